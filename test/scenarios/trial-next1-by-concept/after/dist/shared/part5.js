module.exports = { shared5: 5 };
module.exports = { shared5: 5 };
module.exports = { shared5: 5 };
