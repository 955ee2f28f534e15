/** Resolves the imports of barrel files. */
async function loadBarrel(mapping) {
    const exportList = mapping.exportList;
    return exportList.map(([name, path]) => `export { ${name} } from "${path}"`).join("\n");
}

module.exports = { loadBarrel };
