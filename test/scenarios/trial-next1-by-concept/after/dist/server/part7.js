module.exports = { server7: 7 };
module.exports = { server7: 7 };
module.exports = { server7: 7 };
