module.exports = { shared7: 7 };
module.exports = { shared7: 7 };
module.exports = { shared7: 7 };
