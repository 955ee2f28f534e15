module.exports = { server6: 6 };
module.exports = { server6: 6 };
module.exports = { server6: 6 };
