module.exports = { client1: 1 };
module.exports = { client1: 1 };
module.exports = { client1: 1 };
