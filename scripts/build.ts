// Builds dist/ for the published package, since Node strips no types under node_modules: types for each module, JavaScript in a few files, because loading a
// thousand modules is most of the time in which a node starts.
import { cpSync, globSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { build, type Plugin } from 'vite'
import { root, runTool } from './process.ts'

const [src, dist] = [join(root, 'src'), join(root, 'dist')]
const exported = ['cli/main.ts', 'devnet/startDevnet.ts', 'proofVerifier/proof.ts']
/** Files that begin a process or a thread, and those that others import. Each keeps its place. */
const entries = [...exported, ...globSync('**/*{thread,Thread,worker,Worker}Entry.ts', { cwd: src })]

const place = 'virtual:place'
/** Gives a module that is moved into another file the URL at which it was: it finds its data and its threads from there. */
const keepPlaces: Plugin = {
  name: 'keep-places',
  enforce: 'pre',
  resolveId: (id) => (id === place ? `\0${place}` : undefined),
  // this module is in a file of dist/parts/
  load: (id) => (id === `\0${place}` ? "export const urlOf = (path) => new URL('../' + path, import.meta.url).href" : undefined),
  transform(code, id) {
    if (!id.startsWith(src) || !code.includes('import.meta.url')) return undefined
    const path = relative(src, id).replace(/\.ts$/, '.js')
    return { code: `import { urlOf } from '${place}'\n${code.replaceAll('import.meta.url', `urlOf('${path}')`)}`, map: null }
  },
}

rmSync(dist, { recursive: true, force: true })
const status = runTool('tsc', ['-p', 'tsconfig.build.json'])
if (status !== 0) process.exit(status)
await build({
  configFile: false,
  root,
  logLevel: 'warn',
  plugins: [keepPlaces],
  resolve: { alias: [{ find: /^#(.*)$/, replacement: `${src}/$1.ts` }] },
  build: {
    ssr: true,
    outDir: dist,
    emptyOutDir: false,
    target: 'node24',
    minify: false,
    rolldownOptions: {
      input: { 'parts/place': place, ...Object.fromEntries(entries.map((path) => [path.replace(/\.ts$/, ''), join(src, path)])) },
      output: { entryFileNames: '[name].js', chunkFileNames: 'parts/[name]-[hash].js' },
    },
  },
})
cpSync(src, dist, { recursive: true, filter: (path) => !path.endsWith('.ts') && !path.endsWith('.md') })
writeFileSync(join(dist, 'package.json'), `${JSON.stringify({ type: 'module', imports: { '#*': './*.js' } }, null, 2)}\n`)
