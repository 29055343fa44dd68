// npm run crash:snapshot -- --kills N --seed S [--slots N] [--kinds create,restore,load]: kills (SIGKILL) `basalt snapshot create` and `restore`, and the loading of
// a generated database of the other client in many transactions (`load`; crash:import kills whole imports), at random instants, N times each, and lets them
// continue until they are whole. A killed snapshot has the chunks of an undisturbed one; a killed load has the rows of an undisturbed one.
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { rethDatabase } from '../bench/snapshot/rethState.ts'
import { makeStateWorld, type StateWorld } from '../bench/state/world.ts'
import { chainFlags, digestOf, isInLoad, rethArgs, run, snapshotArgs, wholeMs } from './crash/snapshotRuns.ts'
import { must } from './crash/tally.ts'
import { randomOf } from './random.ts'

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '50' },
    seed: { type: 'string', default: '1' },
    slots: { type: 'string', default: '600000' },
    kinds: { type: 'string', default: 'create,restore,load' },
  },
})
const wanted = Number(values.kills)
const slots = Number(values.slots)
const random = randomOf(Number(values.seed))
const kinds = values.kinds.split(',')
const folder = mkdtempSync(join(tmpdir(), 'basalt-snapshot-crash-'))

const chunksIn = (dir: string): string =>
  readdirSync(dir)
    .filter((name) => name.endsWith('.zst'))
    .sort()
    .join()

async function killCreate(world: StateWorld, reference: string, totalMs: number): Promise<void> {
  let [kills, whole] = [0, 0]
  while (kills < wanted) {
    const out = join(folder, `out-${whole}`)
    const args = snapshotArgs('create', ...chainFlags(world), '--datadir', world.dir, '--out', out)
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

/** Kills a load into a data directory, which has the rows of `expected` when it is whole. */
async function killLoad(name: string, argsOf: (datadir: string) => readonly string[], expected: string, totalMs: number): Promise<void> {
  let [kills, inLoad, whole] = [0, 0, 0]
  while (kills < wanted) {
    const datadir = join(folder, `${name}-${whole}`)
    for (;;) {
      const { code, err } = await run(argsOf(datadir), random() * totalMs * 1.1)
      // a kill between the last transaction and the end of the process leaves a whole chain
      if (code === 0 || err.includes('LOAD_INTO_CHAIN')) break
      must(code === undefined, `${name}: exit code ${code}: ${err}`)
      kills++
      if (await isInLoad(datadir)) inLoad++
    }
    must((await digestOf(join(datadir, 'chain'))) === expected, `${name}: the rows differ from those of a run that was not killed`)
    rmSync(datadir, { recursive: true })
    whole++
  }
  console.log(`${name}: ${JSON.stringify({ kills, inLoad, whole })}`)
}

/** Kills a load whose rows are judged by those of a run that is not killed. */
async function killAgainstWhole(name: string, argsOf: (datadir: string) => readonly string[]): Promise<void> {
  const datadir = join(folder, `${name}-reference`)
  const totalMs = await wholeMs(argsOf(datadir))
  const expected = await digestOf(join(datadir, 'chain'))
  rmSync(datadir, { recursive: true })
  await killLoad(name, argsOf, expected, totalMs)
}

try {
  if (kinds.includes('create') || kinds.includes('restore')) {
    const world = await makeStateWorld(join(folder, 'source'), { seed: 1, accounts: Math.ceil(slots / 20), slots }, () => {})
    const out = join(folder, 'snapshot')
    const createMs = await wholeMs(snapshotArgs('create', ...chainFlags(world), '--datadir', world.dir, '--out', out))
    if (kinds.includes('create')) await killCreate(world, chunksIn(out), createMs)
    if (kinds.includes('restore')) {
      const given = ['--start.block-hash', world.config.genesis.l2.hash]
      const argsOf = (datadir: string): readonly string[] =>
        snapshotArgs('restore', out, ...chainFlags(world), '--datadir', datadir, ...given)
      const scratch = join(folder, 'scratch')
      const restoreMs = await wholeMs(argsOf(scratch))
      rmSync(scratch, { recursive: true })
      await killLoad('restore', argsOf, await digestOf(join(world.dir, 'chain')), restoreMs)
    }
  }
  if (kinds.includes('load')) {
    const database = join(folder, 'mdbx.dat')
    writeFileSync(database, rethDatabase({ accounts: Math.ceil(slots / 5), slots, seed: 1 }, 4_096))
    await killAgainstWhole('load', (datadir) => rethArgs(datadir, database))
  }
} catch (error) {
  console.error(`\n--seed ${values.seed}, data kept in ${folder}`)
  throw error
}
rmSync(folder, { recursive: true })
