module.exports = { server2: 2 };
module.exports = { server2: 2 };
module.exports = { server2: 2 };
