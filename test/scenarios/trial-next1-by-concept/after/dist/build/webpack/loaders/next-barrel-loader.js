/** Resolves the imports of barrel files. */
async function loadBarrel(mapping) {
    const exportList = mapping.exportList;
    if (exportList.length > 100) {
        this.emitWarning(new Error(`${this.resourcePath} re-exports ${exportList.length} modules`));
    }
    return exportList.map(([name, path]) => `export { ${name} } from "${path}"`).join("\n");
}

module.exports = { loadBarrel };
