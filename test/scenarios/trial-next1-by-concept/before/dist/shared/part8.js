module.exports = { shared8: 8 };
module.exports = { shared8: 8 };
module.exports = { shared8: 8 };
