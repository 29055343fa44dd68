// npm run crash:fill -- [--kills 50] [--seed 1] [--slots 200000] [--cutSec 60] [--kinds kill,cut,liar,liars,full]: an anchored node whose state is filled while the
// chain of its source grows. kill: SIGKILL at random instants of the fill. cut: the source is unreachable for a while. liar: the only source spoils one response of
// a hundred. liars: the same with a second, sound source. full: the disk is full for a while. In the end the node has the head and the rows of its source,
// and after kills and on a full disk its database verifies.
import { cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { mountMemory } from '#test/harness/process/mounts'
import { makeBlocks } from '../bench/state/blocks.ts'
import { makeStateWorld, readStateWorld } from '../bench/state/world.ts'
import { must } from './crash/tally.ts'
import { startLyingSource } from './fill/lyingSource.ts'
import { phaseOf, requireVerified, type Setup, torment, waitUntil } from './fill/torment.ts'
import { randomOf } from './random.ts'

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '50' },
    seed: { type: 'string', default: '1' },
    slots: { type: 'string', default: '200000' },
    blocks: { type: 'string', default: '600' },
    cutSec: { type: 'string', default: '60' },
    kinds: { type: 'string', default: 'kill,cut,liar,liars,full' },
  },
})
const random = randomOf(Number(values.seed))
const kinds = values.kinds.split(',')
const [kills, slots, blocks, cutSec] = [Number(values.kills), Number(values.slots), Number(values.blocks), Number(values.cutSec)]
const folder = mkdtempSync(join(tmpdir(), 'basalt-fill-crash-'))
const template = join(folder, 'template')
const tormented = { template, blocks }

/** Makes a state, and blocks on a copy of it: a store keeps the codes of blocks that are removed again. */
async function makeTemplate(): Promise<void> {
  await makeStateWorld(template, { seed: 1, accounts: Math.ceil(slots / 10), slots }, () => {})
  const builder = join(folder, 'builder')
  cpSync(template, builder, { recursive: true })
  await makeBlocks(readStateWorld(builder), blocks)
  for (const file of readdirSync(builder).filter((name) => name.startsWith('blocks-'))) cpSync(join(builder, file), join(template, file))
  rmSync(builder, { recursive: true })
}

/** Kills the node at random instants of its fill. */
async function kill({ node }: Setup): Promise<Record<string, unknown>> {
  const phases: Record<string, number> = {}
  for (let inFill = 0; inFill < kills; ) {
    if (!node.isRunning) node.spawn()
    await node.up()
    await delay(random() * 2_000)
    const phase = await phaseOf(node).catch(() => 'unknown')
    must(phase !== 'whole' && phase !== 'none', `kill: the state is whole after ${inFill} kills: take more --slots`)
    await node.kill()
    phases[phase] = (phases[phase] ?? 0) + 1
    if (phase === 'walk' || phase === 'check') inFill++
  }
  return { kills: phases }
}

const pauses = ({ node }: Setup): number => node.logged(/fill of the state paused/).length

/** Cuts the source for a while. */
async function cut(setup: Setup): Promise<Record<string, unknown>> {
  const { source, node } = setup
  await delay(2_000)
  source.node.proxies.http?.setMode({ kind: 'cut' })
  await waitUntil('cut: the fill pauses', async () => (await phaseOf(node)) === 'paused')
  await delay(1_000 * cutSec)
  must(node.isRunning, 'cut: the node has ended')
  source.node.proxies.http?.setMode({ kind: 'pass' })
  await waitUntil('cut: the fill resumes', async () => (await phaseOf(node)) !== 'paused')
  return { cutSec, pauses: pauses(setup) }
}

/** Fills the disk of the node for a while. */
async function full(setup: Setup, disk: string): Promise<Record<string, unknown>> {
  const { node } = setup
  await delay(1_500)
  const ballast = join(disk, 'ballast')
  for (let bytes = 64 * 2 ** 20; bytes >= 2 ** 12; ) {
    try {
      writeFileSync(ballast, Buffer.alloc(bytes, 1), { flag: 'a' })
    } catch {
      bytes /= 2
    }
  }
  await waitUntil('full: the fill pauses', async () => (await phaseOf(node)) === 'paused')
  await delay(15_000)
  must(node.isRunning, 'full: the node has ended')
  rmSync(ballast)
  await waitUntil('full: the fill resumes', async () => (await phaseOf(node)) !== 'paused')
  return { pauses: pauses(setup) }
}

/** Runs a node whose first source lies, until its state is whole. @param isAlone it has no other source */
async function withLiar(name: string, isAlone: boolean): Promise<void> {
  let [target, other] = ['', '']
  await using liar = await startLyingSource(
    () => target,
    () => other,
    random,
  )
  await torment({
    ...{ ...tormented, name, dir: join(folder, name), bandwidth: '8MB' },
    stateUrls(source) {
      target = source.node.url('http')
      other = source.payloads[0]?.blockHash ?? ''
      return [liar.url, ...(isAlone ? [] : [target])]
    },
    async run({ node }) {
      await waitUntil(`${name}: the state is whole`, async () => (await phaseOf(node)) === 'whole')
      const named = await node.metric('metrics', 'basalt_state_source_lies_total{source="1"}')
      const sound = isAlone ? 0 : await node.metric('metrics', 'basalt_state_source_lies_total{source="2"}')
      must(named > 0 && sound === 0, `${name}: the metric names ${named} lies of the liar, and ${sound} of the sound source`)
      const [line] = node.logged(/state source sent a wrong proof/)
      must(line?.includes(new URL(liar.url).host) ?? false, `${name}: the liar is not named in the log`)
      return { told: liar.told, named }
    },
  })
}

async function killed(): Promise<void> {
  const place = { name: 'kill', dir: join(folder, 'kill') }
  await torment({ ...tormented, ...place, bandwidth: '500KB', run: kill })
  await requireVerified(place)
}

async function withSmallDisk(): Promise<void> {
  const place = { name: 'full', dir: join(folder, 'full') }
  // the data directory alone: this program writes a log to the folder above
  using disk = mountMemory(join(place.dir, 'node', 'data'), '600m')
  if (disk === undefined) {
    console.log('full: skipped, this user may not mount file systems')
    return
  }
  await torment({ ...tormented, ...place, bandwidth: '3MB', run: (setup) => full(setup, disk.dir) })
  await requireVerified(place)
}

try {
  await makeTemplate()
  if (kinds.includes('kill')) await killed()
  if (kinds.includes('cut')) await torment({ ...tormented, name: 'cut', dir: join(folder, 'cut'), bandwidth: '3MB', run: cut })
  if (kinds.includes('liar')) await withLiar('liar', true)
  if (kinds.includes('liars')) await withLiar('liars', false)
  if (kinds.includes('full')) await withSmallDisk()
} catch (error) {
  console.error(`\n--seed ${values.seed}, data kept in ${folder}`)
  throw error
}
rmSync(folder, { recursive: true, force: true })
