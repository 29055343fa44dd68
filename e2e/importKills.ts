// npm run crash:import -- --kills 50 --seed 1: kills `basalt snapshot import` at random instants until an import is whole, and verifies its
// database; again until the number of kills is reached.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { readRecordedChain } from '#devnet/recordedChain'
import { systemClock } from '#lib/clock'
import { dice } from '#test/harness/dice'
import { serveRecordedChain } from '#test/harness/rpc/recordedNode'

const { values } = parseArgs({ options: { kills: { type: 'string', default: '50' }, seed: { type: 'string', default: '1' } } })
const root = resolve(import.meta.dirname, '..')
const name = 'op-ecotone-to-jovian'
const source = join(root, 'test/fixtures/reth')
const roll = dice(Number(values.seed))

const base = mkdtempSync(join(tmpdir(), 'basalt-import-kills-'))
const chain = readRecordedChain(name)
writeFileSync(join(base, 'rollup.json'), JSON.stringify(chain.rollupJson))
writeFileSync(join(base, 'genesis.json'), JSON.stringify(chain.genesisJson))
const head = JSON.parse(readFileSync(join(source, 'head.json'), 'utf8'))
const wanted = Number(values.kills)
let kills = 0
let imports = 0
try {
  await using node = await serveRecordedChain(name)
  /** time of the last whole life, of which most is the start of the process */
  let wholeMs = 2_000
  while (kills < wanted) {
    const datadir = join(base, `${imports}`)
    for (let isWhole = false; !isWhole; ) {
      const child = start(datadir, node.url)
      const startMs = performance.now()
      const delayMs = 0.3 * wholeMs + roll(wholeMs)
      using _kill = systemClock.after(kills < wanted ? delayMs : 600_000, () => process.kill(-(child.pid ?? 0), 'SIGKILL'))
      const [code, signal] = (await once(child, 'exit')) as [number | null, string | null]
      // a life that a slow machine makes long raises the bound of the next ones
      wholeMs = signal === 'SIGKILL' ? 1.02 * wholeMs : performance.now() - startMs
      if (signal === 'SIGKILL') kills++
      else if (code === 0 || isBegun(datadir)) isWhole = true
      else throw new Error(`the import ended with ${code}`)
    }
    verify(datadir)
    rmSync(datadir, { recursive: true })
    imports++
    console.log(`${kills} kills, ${imports} whole imports verified`)
  }
} finally {
  rmSync(base, { recursive: true, force: true })
}

function start(datadir: string, l2Url: string): ChildProcess {
  const chainFlags = ['--rollup.config', join(base, 'rollup.json'), '--genesis', join(base, 'genesis.json')]
  const flags = [...chainFlags, '--datadir', datadir, '--start.block-hash', head.hash, '--source.l2.rpc', l2Url, '--json']
  const args = [join(root, 'bin/basalt.js'), 'snapshot', 'import', source, ...flags]
  // a group of its own: the parent process and its child are killed together
  return spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'], detached: true })
}

/** A kill between the start of the chain and the end of the process leaves a whole chain, which the next import refuses. */
function isBegun(datadir: string): boolean {
  return existsSync(join(datadir, 'chain')) && stats(datadir) !== undefined
}

function stats(datadir: string): unknown {
  try {
    return JSON.parse(
      execFileSync(process.execPath, [join(root, 'bin/basalt.js'), 'db', 'stats', '--datadir', datadir, '--json'], { encoding: 'utf8' }),
    )
  } catch {
    return undefined
  }
}

/** Compares every row with its hash; throws when one differs. */
function verify(datadir: string): void {
  execFileSync(process.execPath, [join(root, 'bin/basalt.js'), 'db', 'verify', '--datadir', datadir, '--json'], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  if (existsSync(join(datadir, 'reth-import', 'archives'))) throw new Error('fetched archives are left')
}
