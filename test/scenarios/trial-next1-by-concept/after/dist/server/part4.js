module.exports = { server4: 4 };
module.exports = { server4: 4 };
module.exports = { server4: 4 };
