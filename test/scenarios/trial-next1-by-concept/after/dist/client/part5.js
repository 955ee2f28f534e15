module.exports = { client5: 5 };
module.exports = { client5: 5 };
module.exports = { client5: 5 };
