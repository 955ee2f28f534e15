module.exports = { server8: 8 };
module.exports = { server8: 8 };
module.exports = { server8: 8 };
