module.exports = { client6: 6 };
module.exports = { client6: 6 };
module.exports = { client6: 6 };
