module.exports = { client2: 2 };
module.exports = { client2: 2 };
module.exports = { client2: 2 };
