module.exports = { shared3: 3 };
module.exports = { shared3: 3 };
module.exports = { shared3: 3 };
