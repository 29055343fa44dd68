// npm run crash:snapshot -- --kills N --seed S [--slots N] [--kinds create,restore,archive,proofs,load]: kills (SIGKILL) `basalt snapshot create` and `restore`,
// restores of flavours archive and proofs, and the loading of a generated database of the other client in many transactions (`load`; crash:import kills whole
// imports), at random instants, N times each, and lets them continue until they are whole. A killed snapshot has the chunks of an undisturbed one; a killed load
// has the rows of an undisturbed one, those of history and recorded proofs included.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { toRollupJson } from '#chainspec/rollupConfig'
import { manifestName, parseManifest } from '#snapshot/format/manifest'
import { growInto } from '#test/harness/chain/grownDatadir'
import { recordProofs } from '#test/harness/snapshot/olderValues'
import { rethDatabase } from '../bench/snapshot/rethState.ts'
import { makeStateWorld, type StateWorld } from '../bench/state/world.ts'
import { chainFlags, digestOf, digestWithHistory, isInLoad, rethArgs, run, snapshotArgs, wholeMs } from './crash/snapshotRuns.ts'
import { must } from './crash/tally.ts'
import { randomOf } from './random.ts'

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '50' },
    seed: { type: 'string', default: '1' },
    slots: { type: 'string', default: '600000' },
    kinds: { type: 'string', default: 'create,restore,archive,proofs,load' },
  },
})
const wanted = Number(values.kills)
const slots = Number(values.slots)
const random = randomOf(Number(values.seed))
const kinds = values.kinds.split(',')
const folder = mkdtempSync(join(tmpdir(), 'basalt-snapshot-crash-'))

/** Blocks of a chain whose values are restored. */
const olderBlocks = 400
const stateDigest = (datadir: string): Promise<string> => digestOf(join(datadir, 'chain'))
const chunksIn = (dir: string): string =>
  readdirSync(dir)
    .filter((name) => /\.(?:zst|seg)$/.test(name))
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
async function killLoad(
  name: string,
  argsOf: (datadir: string) => readonly string[],
  {
    expected,
    totalMs,
    digest,
  }: { readonly expected: string; readonly totalMs: number; readonly digest: (datadir: string) => Promise<string> },
): Promise<void> {
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
    must((await digest(datadir)) === expected, `${name}: the rows differ from those of a run that was not killed`)
    rmSync(datadir, { recursive: true })
    whole++
  }
  console.log(`${name}: ${JSON.stringify({ kills, inLoad, whole })}`)
}

/** Kills a load whose rows are judged by those of a run that is not killed. */
async function killAgainstWhole(name: string, argsOf: (datadir: string) => readonly string[], digest = stateDigest): Promise<void> {
  const datadir = join(folder, `${name}-reference`)
  const totalMs = await wholeMs(argsOf(datadir))
  const expected = await digest(datadir)
  rmSync(datadir, { recursive: true })
  await killLoad(name, argsOf, { expected, totalMs, digest })
}

/** Kills restores of a snapshot with values of older blocks, of a chain of random blocks. */
async function killOlder(flavour: 'archive' | 'proofs'): Promise<void> {
  const source = join(folder, `${flavour}-source`)
  const { config, genesisNote } = await growInto(source, olderBlocks + 5, olderBlocks)
  await recordProofs(source)
  const chain = { rollupFile: join(source, 'rollup.json'), genesisFile: join(source, 'genesis.json') }
  writeFileSync(chain.rollupFile, JSON.stringify(toRollupJson(config)))
  writeFileSync(chain.genesisFile, JSON.stringify(genesisNote))
  const out = join(folder, flavour)
  await wholeMs(snapshotArgs('create', ...chainFlags(chain), '--datadir', source, '--out', out, '--flavour', flavour))
  const { block } = parseManifest(readFileSync(join(out, manifestName)), out).manifest
  const argsOf = (datadir: string): readonly string[] =>
    snapshotArgs('restore', out, ...chainFlags(chain), '--datadir', datadir, '--start.block-hash', block.hash)
  await killAgainstWhole(flavour, argsOf, digestWithHistory)
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
      await killLoad('restore', argsOf, { expected: await stateDigest(world.dir), totalMs: restoreMs, digest: stateDigest })
    }
  }
  for (const flavour of ['archive', 'proofs'] as const) if (kinds.includes(flavour)) await killOlder(flavour)
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
