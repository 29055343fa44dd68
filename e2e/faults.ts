// npm run test:faults -- [--via http|ws|none] [--only TEXT] [--keep]: node A derives from L1, node B (two processes) follows A; each fault of
// the list begins, is visible in /readyz, ends, and both must have the recorded heads again. `none`: only A.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { lastL1, recordedProcessChain } from '#test/harness/process/chain'
import { type FaultCase, faultGroups } from './faults/cases.ts'
import { createWorld, type Transport, type World } from './faults/world.ts'
import { readyOf } from './halves/labels.ts'
import { eventually } from './nodeProcess.ts'

const transports: readonly Transport[] = ['http', 'ws', 'none']
const { values } = parseArgs({
  options: {
    via: { type: 'string', multiple: true, default: ['http', 'ws'] },
    only: { type: 'string', default: '' },
    keep: { type: 'boolean', default: false },
  },
})
const via = values.via.map((name): Transport => {
  const transport = transports.find((one) => one === name)
  if (transport === undefined) throw new Error(`--via: ${name} is not one of ${transports.join(', ')}`)
  return transport
})

/** The longest deadline after which a node reports a wait, with a margin. */
const unreadyWithinMs = 60_000
const recoverWithinMs = 60_000
const firstL1Blocks = 10

type Outcome = {
  readonly fault: string
  readonly ok: boolean
  /** time until /readyz was 503 with the reason; absent: the fault makes no node unready */
  readonly unreadyMs?: number
  readonly reason?: string
  /** time from the end of the fault (a killed process is started then) until all nodes are ready and have the recorded heads */
  readonly recoverMs?: number
  readonly error?: string
}

async function untilUnready(world: World, { unready }: FaultCase): Promise<{ unreadyMs: number; reason: string } | undefined> {
  if (unready === undefined) return undefined
  const node = unready.node(world)
  let reason = ''
  const unreadyMs = await eventually(`${node.name} reports that it is not ready: ${unready.why}`, unreadyWithinMs, async () => {
    const { isReady, problems } = await readyOf(node)
    reason = problems.join('; ')
    return (!isReady && unready.why.test(reason)) || `ready: ${isReady}, ${reason}`
  })
  return { unreadyMs, reason }
}

async function allReady(world: World): Promise<void> {
  for (const node of world.nodes) {
    await eventually(`${node.name} stays ready`, 5_000, async () => {
      const { isReady, problems } = await readyOf(node)
      return isReady || problems.join('; ')
    })
  }
}

async function runCase(world: World, fault: FaultCase): Promise<Outcome> {
  await eventually('together before the fault', recoverWithinMs, world.together)
  const startMs = performance.now()
  let seen: { unreadyMs: number; reason: string } | undefined
  let failure: unknown
  try {
    await fault.begin(world)
    await world.reveal(fault.l1Blocks)
    seen = await untilUnready(world, fault)
    const leftMs = fault.holdMs - (performance.now() - startMs)
    if (leftMs > 0) await new Promise((resolve) => setTimeout(resolve, leftMs))
    if (fault.staysReady) await allReady(world)
  } catch (error) {
    failure = error
  }
  const endMs = performance.now()
  await fault.end(world)
  await eventually('together after the fault', recoverWithinMs, world.together)
  const recoverMs = Math.round(performance.now() - endMs)
  for (const watch of world.watches) watch.check()
  if (failure !== undefined) throw failure
  return { fault: fault.name, ok: true, ...seen, recoverMs }
}

/** Runs a group of faults, one after the other, on the same two nodes; then L1 to its end. A fault without recovery ends the group. */
async function runGroup(transport: Transport, cases: readonly FaultCase[], folder: string): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = []
  await using world = await createWorld(recordedProcessChain('op-ecotone-to-jovian'), folder, transport)
  for (const node of world.nodes) node.spawn()
  await Promise.all(world.nodes.map((node) => node.up()))
  await world.reveal(firstL1Blocks)
  for (const fault of cases) {
    process.stderr.write(`${transport}: ${fault.name}\n`)
    try {
      const outcome = await runCase(world, fault)
      outcomes.push(outcome)
      const { unreadyMs, reason, recoverMs } = outcome
      const unready = unreadyMs === undefined ? '' : `503 after ${unreadyMs} ms (${reason}), `
      process.stderr.write(`  ${unready}together after ${recoverMs} ms\n`)
    } catch (error) {
      process.stderr.write(`  FAILED: ${String(error)}\n`)
      outcomes.push({ fault: fault.name, ok: false, error: String(error) })
      const isBack = await eventually('together', 30_000, world.together).catch(() => undefined)
      if (isBack === undefined) {
        for (const node of world.nodes) process.stderr.write(`--- ${node.name}\n${node.tail()}\n`)
        return outcomes
      }
    }
  }
  await world.reveal(lastL1(world.chain))
  await eventually('the whole chain', recoverWithinMs, world.together)
  return outcomes
}

async function runAll(transport: Transport, folder: string): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = []
  for (const [i, group] of faultGroups.entries()) {
    const cases = group.filter(({ name, needsB }) => name.includes(values.only) && (transport !== 'none' || !needsB))
    if (cases.length > 0) outcomes.push(...(await runGroup(transport, cases, join(folder, String(i)))))
  }
  return outcomes
}

const folder = mkdtempSync(join(tmpdir(), 'basalt-faults-'))
const startMs = performance.now()
const result: Record<string, readonly Outcome[]> = {}
for (const transport of via) result[transport] = await runAll(transport, join(folder, transport))
const failed = Object.values(result).flatMap((outcomes) => outcomes.filter(({ ok }) => !ok))
if (values.keep || failed.length > 0) process.stderr.write(`data kept in ${folder}\n`)
else rmSync(folder, { recursive: true, force: true })
console.log(JSON.stringify({ seconds: Math.round((performance.now() - startMs) / 1_000), failed: failed.length, result }))
if (failed.length > 0) process.exitCode = 1
