// npm run crash:snapshot -- --kills N --seed S [--slots N] [--kinds create,restore]: kills (SIGKILL) `basalt snapshot create` and `restore` at random instants,
// N times each, and lets them continue until they are whole. A snapshot that was killed has the chunks of one that was not; a restore that was killed has the
// rows of the store that the snapshot was made of.
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { readLoadMark } from '#state/loadMark'
import { openChainKv } from '#store/chainTables'
import { tables } from '#store/tables'
import { makeStateWorld, type StateWorld } from '../bench/state/world.ts'
import { must } from './crash/tally.ts'
import { randomOf } from './random.ts'

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '50' },
    seed: { type: 'string', default: '1' },
    slots: { type: 'string', default: '600000' },
    kinds: { type: 'string', default: 'create,restore' },
  },
})
const wanted = Number(values.kills)
const random = randomOf(Number(values.seed))
const folder = mkdtempSync(join(tmpdir(), 'basalt-snapshot-crash-'))
const main = new URL('../src/cli/main.ts', import.meta.url).pathname

/** Runs a command, and kills it after a time. @returns its exit code; undefined: killed */
function run(
  args: readonly string[],
  killAfterMs: number | undefined,
): Promise<{ readonly code: number | undefined; readonly err: string }> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [main, ...args], { stdio: ['ignore', 'ignore', 'pipe'] })
    let err = ''
    child.stderr.on('data', (bytes) => {
      err += String(bytes)
    })
    const timer = killAfterMs === undefined ? undefined : setTimeout(() => child.kill('SIGKILL'), killAfterMs)
    child.once('close', (code, signal) => {
      clearTimeout(timer)
      resolve({ code: signal === 'SIGKILL' ? undefined : (code ?? 1), err })
    })
  })
}

const chainFlags = ({ rollupFile, genesisFile }: StateWorld): string[] => ['--rollup.config', rollupFile, '--genesis', genesisFile]
const stateTables = [tables.accounts, tables.storage, tables.code, tables.accountNodes, tables.storageNodes]

/** Digest of the rows of a state. */
async function digestOf(chainDir: string): Promise<string> {
  await using kv = openChainKv(chainDir)
  using reader = kv.snapshot()
  const hash = createHash('sha256')
  for (const { id } of stateTables) for (const { key, value } of reader.range(id, {})) hash.update(key).update(value)
  return hash.digest('hex')
}

/** Returns whether a killed restore left a store whose load has begun. */
async function isMarked(chainDir: string): Promise<boolean> {
  await using kv = openChainKv(chainDir)
  using reader = kv.snapshot()
  return (readLoadMark(reader)?.progress.length ?? 0) > 0
}

const chunksIn = (dir: string): string =>
  readdirSync(dir)
    .filter((name) => name.endsWith('.zst'))
    .sort()
    .join()

async function wholeMs(args: readonly string[]): Promise<number> {
  const startMs = performance.now()
  const { code, err } = await run(args, undefined)
  must(code === 0, `${args.join(' ')}: exit code ${code}: ${err}`)
  return performance.now() - startMs
}

async function killCreate(world: StateWorld, reference: string, totalMs: number): Promise<void> {
  let [kills, whole] = [0, 0]
  while (kills < wanted) {
    const out = join(folder, `out-${whole}`)
    const args = ['snapshot', 'create', ...chainFlags(world), '--datadir', world.dir, '--out', out]
    for (;;) {
      const { code, err } = await run(args, random() * totalMs * 1.1)
      if (code === 0) break
      must(code === undefined, `create: exit code ${code}: ${err}`)
      kills++
    }
    must(chunksIn(out) === reference, 'create: the chunks differ from those of a run that was not killed')
    must(!readdirSync(out).some((name) => name.endsWith('.tmp')), 'create: temporary files are left')
    rmSync(out, { recursive: true })
    whole++
  }
  console.log(`create: ${JSON.stringify({ kills, whole })}`)
}

async function killRestore(world: StateWorld, out: string, expected: string, totalMs: number): Promise<void> {
  let [kills, inLoad, whole] = [0, 0, 0]
  while (kills < wanted) {
    const datadir = join(folder, `restored-${whole}`)
    const hash = world.config.genesis.l2.hash
    const args = ['snapshot', 'restore', out, ...chainFlags(world), '--datadir', datadir, '--start.block-hash', hash]
    for (;;) {
      const { code, err } = await run(args, random() * totalMs * 1.1)
      // a kill between the last transaction and the end of the process leaves a whole chain
      if (code === 0 || err.includes('LOAD_INTO_CHAIN')) break
      must(code === undefined, `restore: exit code ${code}: ${err}`)
      kills++
      if (existsSync(join(datadir, 'chain', 'data.mdb')) && (await isMarked(join(datadir, 'chain')))) inLoad++
    }
    must((await digestOf(join(datadir, 'chain'))) === expected, 'restore: the rows differ from those of the executed state')
    rmSync(datadir, { recursive: true })
    whole++
  }
  console.log(`restore: ${JSON.stringify({ kills, inLoad, whole })}`)
}

try {
  const slots = Number(values.slots)
  const world = await makeStateWorld(join(folder, 'source'), { seed: 1, accounts: Math.ceil(slots / 20), slots }, () => {})
  const out = join(folder, 'snapshot')
  const createMs = await wholeMs(['snapshot', 'create', ...chainFlags(world), '--datadir', world.dir, '--out', out])
  const kinds = values.kinds.split(',')
  if (kinds.includes('create')) await killCreate(world, chunksIn(out), createMs)
  if (kinds.includes('restore')) {
    const expected = await digestOf(join(world.dir, 'chain'))
    const hash = world.config.genesis.l2.hash
    const scratch = join(folder, 'scratch')
    const restoreMs = await wholeMs(['snapshot', 'restore', out, ...chainFlags(world), '--datadir', scratch, '--start.block-hash', hash])
    rmSync(scratch, { recursive: true })
    await killRestore(world, out, expected, restoreMs)
  }
} catch (error) {
  console.error(`\n--seed ${values.seed}, data kept in ${folder}`)
  throw error
}
rmSync(folder, { recursive: true })
