module.exports = { shared4: 4 };
module.exports = { shared4: 4 };
module.exports = { shared4: 4 };
