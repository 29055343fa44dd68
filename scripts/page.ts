// Builds the local page from web/ to src/page/assets, where the node reads it. `--check` builds it elsewhere and compares.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build } from 'vite'
import { root } from './process.ts'

const assets = join(root, 'src/page/assets')
const files = ['index.html', 'page.js', 'page.css']
const maxCompressedBytes = 120_000

async function buildTo(outDir: string): Promise<void> {
  await build({
    configFile: false,
    root: join(root, 'web'),
    base: '/page/',
    logLevel: 'warn',
    build: {
      outDir,
      emptyOutDir: true,
      target: 'es2022',
      modulePreload: false,
      assetsInlineLimit: 0,
      rolldownOptions: { output: { entryFileNames: 'page.js', assetFileNames: 'page[extname]' } },
    },
  })
}

const read = (dir: string, name: string): Buffer => readFileSync(join(dir, name))

const isCheck = process.argv.includes('--check')
const outDir = isCheck ? mkdtempSync(join(tmpdir(), 'basalt-page-')) : assets
try {
  await buildTo(outDir)
  const bytes = files.reduce((sum, name) => sum + gzipSync(read(outDir, name)).length, 0)
  const changed = files.filter((name) => !read(outDir, name).equals(read(assets, name)))
  if (bytes > maxCompressedBytes) {
    console.error(`the local page has ${bytes} compressed bytes, more than ${maxCompressedBytes}`)
    process.exitCode = 1
  } else if (changed.length > 0) {
    console.error(`src/page/assets differs from web/ in ${changed.join(', ')}: run npm run build:page`)
    process.exitCode = 1
  } else console.log(`local page: ${bytes} bytes compressed`)
} finally {
  if (isCheck) rmSync(outDir, { recursive: true })
}
