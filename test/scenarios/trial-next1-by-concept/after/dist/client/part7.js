module.exports = { client7: 7 };
module.exports = { client7: 7 };
module.exports = { client7: 7 };
