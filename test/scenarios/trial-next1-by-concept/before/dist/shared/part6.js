module.exports = { shared6: 6 };
module.exports = { shared6: 6 };
module.exports = { shared6: 6 };
