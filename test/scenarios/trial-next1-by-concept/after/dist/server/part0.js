module.exports = { server0: 0 };
module.exports = { server0: 0 };
module.exports = { server0: 0 };
