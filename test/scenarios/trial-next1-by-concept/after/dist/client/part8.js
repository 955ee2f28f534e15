module.exports = { client8: 8 };
module.exports = { client8: 8 };
module.exports = { client8: 8 };
