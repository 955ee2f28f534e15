module.exports = { server3: 3 };
module.exports = { server3: 3 };
module.exports = { server3: 3 };
