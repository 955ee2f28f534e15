module.exports = { shared0: 0 };
module.exports = { shared0: 0 };
module.exports = { shared0: 0 };
