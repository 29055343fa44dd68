// npm run test:docs -- [--only PAGE]... [--keep]: runs the fenced blocks of all pages of the documentation in order, each page in a folder of its own, against a
// devnet, in a network of its own without a way out (where the system allows it). A block that is not run has the reason in a comment before it.
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { startCli } from '#test/harness/process/cliProcess'
import { runNode } from '../scripts/process.ts'
import { navigation } from '../scripts/site/pages.ts'
import { startDevnetProcess } from './devnet/process.ts'
import { blocksOf } from './docs/blocks.ts'
import { runPage } from './docs/session.ts'

const root = resolve(import.meta.dirname, '..')
const { values } = parseArgs({
  options: { only: { type: 'string', multiple: true, default: [] }, keep: { type: 'boolean', default: false } },
})

/** In a network namespace the default ports are free, and nothing outside is reached. */
function repeatInOwnNetwork(): void {
  if (process.env['DOCS_NETWORK'] !== undefined || spawnSync('unshare', ['-rn', 'true']).status !== 0) return
  const script = 'ip link set lo up && exec "$@"'
  const again = [process.execPath, ...process.execArgv, ...process.argv.slice(1)]
  const { status } = spawnSync('unshare', ['-rn', 'sh', '-c', script, 'sh', ...again], {
    stdio: 'inherit',
    env: { ...process.env, DOCS_NETWORK: 'own' },
  })
  process.exit(status ?? 1)
}
repeatInOwnNetwork()

if (runNode('scripts/build.ts', []) !== 0) process.exit(1)
const pages = navigation
  .flatMap((section) => section.pages)
  .filter((page) => page !== 'docs/adr/README.md' && (values.only.length === 0 || values.only.some((name) => page.includes(name))))
const folder = mkdtempSync(join(tmpdir(), 'basalt-docs-'))
let [ran, failed] = [0, 0]
{
  await using devnet = await startDevnetProcess('memory')
  const { l1, l1Beacon, rpc, control } = devnet.started.urls
  const chain = join(folder, 'chain')
  await using exported = startCli(['devnet', 'export', chain, '--control.port', new URL(control).port])
  if ((await exported.ended()).code !== 0) throw new Error(exported.output().stderr)
  const files = {
    rollupConfig: join(chain, 'rollup.json'),
    genesis: join(chain, 'genesis.json'),
    l1Config: join(chain, 'l1-chain-config.json'),
  }
  for (const page of pages) {
    const place = join(folder, page.replaceAll('/', '-'))
    mkdirSync(place)
    const beganMs = performance.now()
    const run = await runPage(blocksOf(page, readFileSync(join(root, page), 'utf8')), place, { l1, beacon: l1Beacon, rpc, ...files })
    ran += run.ran
    if (run.ran + run.skipped.length > 0)
      console.log(`${page}: ${run.ran} blocks ran, ${Math.round((performance.now() - beganMs) / 1_000)} s`)
    for (const { line, skipped } of run.skipped) console.log(`  line ${line} is not run: ${skipped}`)
    if (run.failure === undefined) continue
    failed++
    console.log(`  failed, ${join(place, '.docs.log')}:\n${run.failure.replace(/^/gm, '    ')}`)
  }
}
if (values.keep || failed > 0) console.log(`files kept in ${folder}`)
else rmSync(folder, { recursive: true, force: true })
console.log(`${ran - failed} passed, ${failed} failed`)
process.exit(failed === 0 ? 0 : 1)
