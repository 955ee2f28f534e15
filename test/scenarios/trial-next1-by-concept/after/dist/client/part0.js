module.exports = { client0: 0 };
module.exports = { client0: 0 };
module.exports = { client0: 0 };
