module.exports = { server5: 5 };
module.exports = { server5: 5 };
module.exports = { server5: 5 };
