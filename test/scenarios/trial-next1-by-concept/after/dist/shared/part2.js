module.exports = { shared2: 2 };
module.exports = { shared2: 2 };
module.exports = { shared2: 2 };
