module.exports = { server1: 1 };
module.exports = { server1: 1 };
module.exports = { server1: 1 };
