module.exports = { shared1: 1 };
module.exports = { shared1: 1 };
module.exports = { shared1: 1 };
