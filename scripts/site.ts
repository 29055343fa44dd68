// npm run docs:site -- [--out DIR] [--version NAME] [--sources URL]: the documentation as a static site in DIR/VERSION, with search. Other versions in DIR
// stay, so a release adds its own. Every link is checked. `--sources` is the address of the repository's files, for links to sources.
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { build } from 'vite'
import { root } from './process.ts'
import { buildSite, versionsIn } from './site/build.ts'

const { values } = parseArgs({
  options: { out: { type: 'string', default: join(root, 'site') }, version: { type: 'string' }, sources: { type: 'string' } },
})
const packageJson = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { readonly version: string }
const version = values.version ?? `v${packageJson.version}`
if (!/^[\w.-]+$/.test(version)) throw new Error(`--version ${version}: letters, digits, points and dashes only`)
const out = resolve(values.out)
const folder = join(out, version)

const { files, broken } = buildSite(root, version, values.sources?.replace(/\/$/, ''))
if (broken.length > 0) {
  for (const problem of broken) console.error(problem)
  process.exit(1)
}
rmSync(folder, { recursive: true, force: true })
await build({
  configFile: false,
  root: join(root, 'web/site'),
  logLevel: 'warn',
  build: {
    outDir: folder,
    emptyOutDir: false,
    target: 'es2022',
    modulePreload: false,
    rolldownOptions: { input: join(root, 'web/site/site.ts'), output: { entryFileNames: 'site.js' } },
  },
})
for (const [path, text] of files) {
  mkdirSync(dirname(join(folder, path)), { recursive: true })
  writeFileSync(join(folder, path), text)
}
cpSync(join(root, 'web/site/site.css'), join(folder, 'site.css'))
cpSync(join(root, 'docs/images'), join(folder, 'images'), { recursive: true })
const versions = versionsIn(out)
writeFileSync(join(out, 'versions.json'), JSON.stringify(versions))
writeFileSync(
  join(out, 'index.html'),
  `<!doctype html>\n<meta charset="utf-8">\n<title>Basalt</title>\n<meta http-equiv="refresh" content="0; url=${versions[0]}/">\n<a href="${versions[0]}/">Basalt</a>\n`,
)
console.log(`${files.size} files in ${folder}; versions: ${versions.join(', ')}`)
