module.exports = { client3: 3 };
module.exports = { client3: 3 };
module.exports = { client3: 3 };
