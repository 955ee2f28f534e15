module.exports = { client4: 4 };
module.exports = { client4: 4 };
module.exports = { client4: 4 };
