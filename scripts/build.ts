// Builds dist/: JavaScript and types for the published package, since Node strips no types under node_modules.
import { cpSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root, runTool } from './process.ts'

const dist = join(root, 'dist')
rmSync(dist, { recursive: true, force: true })
const status = runTool('tsc', ['-p', 'tsconfig.build.json'])
if (status !== 0) process.exit(status)

cpSync(join(root, 'src'), dist, { recursive: true, filter: (path) => !path.endsWith('.ts') && !path.endsWith('.md') })
writeFileSync(join(dist, 'package.json'), `${JSON.stringify({ type: 'module', imports: { '#*': './*.js' } }, null, 2)}\n`)
