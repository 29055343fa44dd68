import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { lastL1, safeAfter } from '#test/harness/process/chain'
import { eventually, type NodeProcess } from '../nodeProcess.ts'
import type { Setup, Victim } from './setups.ts'
import type { HeadWatch } from './watch.ts'

/** State of the killed node: `starting` before it served, `deriving` while L1 was ahead of its labels, `settled` otherwise. */
export type Phase = 'starting' | 'deriving' | 'settled'
export type Hit = {
  readonly victim: string
  readonly phase: Phase
  /** acknowledged, uncommitted bytes in the journals of the killed processes */
  readonly journalBytes: number
}

/** Result of one round: one kill, or two when the first restart was killed as well. */
export type Round = {
  readonly hits: readonly Hit[]
  /** time from the last restart until every node is ready and has the labels of L1 */
  readonly togetherMs: number
  /** time from the last restart until the slowest killed process serves */
  readonly upMs: number
  /** blocks that were executed although the node had acknowledged them before; the maximum of all nodes */
  readonly again: number
}

export type Limits = {
  readonly togetherMs: number
  /** work that a kill may repeat: that of this many milliseconds before it, acknowledged or not, and `slackBlocks` */
  readonly againMs: number
  readonly slackBlocks: number
}

export const defaultLimits: Limits = { togetherMs: 60_000, againMs: 10_000, slackBlocks: 12 }

const executedBlocks = 'basalt_execution_blocks_total'
/** Interval between new L1 blocks, and their number in a round. */
const [revealEveryMs, minReveals, moreReveals] = [100, 3, 8]
const longestTailMs = 600
const secondHitShare = 0.25
const pauseShare = 0.5
const longestStartMs = 1_500
const longestPauseMs = 800

export const executedBy = (node: NodeProcess): Promise<number> => node.metric('metrics', executedBlocks)

function phaseOf(setup: Setup, watches: readonly HeadWatch[], { nodes }: Victim): Phase {
  if (nodes.some(({ isUp }) => !isUp)) return 'starting'
  const target = safeAfter(setup.chain, setup.l1.l1.head).number
  return watches.some(({ head }) => head < target) ? 'deriving' : 'settled'
}

/** Size of the files that an execution half appends to before it replies. */
function journalBytesOf({ folder }: NodeProcess): number {
  const names = existsSync(folder) ? readdirSync(folder, { recursive: true, encoding: 'utf8' }) : []
  return names.filter((name) => name.endsWith('.journal')).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0)
}

/** Reveals L1 blocks, one after the other, up to `to`. */
async function reveal({ l1 }: Setup, to: number): Promise<void> {
  while (l1.l1.head < to) {
    l1.l1.reveal(l1.l1.head + 1)
    await delay(revealEveryMs)
  }
}

/** Head of a killed node, and its head `againMs` earlier; `target` is the newest block that it may have executed. */
type Shown = { readonly watch: HeadWatch; readonly head: number; readonly headEarlier: number; readonly target: number }
type Strike = { readonly hits: readonly Hit[]; readonly victim: Victim; readonly shown: readonly Shown[] }

/** Kills, restarts, and sometimes kills again during the start. */
async function strike(setup: Setup, watches: readonly HeadWatch[], random: () => number, againMs: number): Promise<Strike> {
  const victim = setup.victims[Math.floor(random() * setup.victims.length)]
  if (victim === undefined) throw new Error('nothing to kill')
  const hits: Hit[] = []
  const hit = async (): Promise<readonly Shown[]> => {
    const phase = phaseOf(setup, watches, victim)
    const killed = watches.filter(({ node }) => victim.nodes.includes(node))
    const target = safeAfter(setup.chain, setup.l1.l1.head).number
    const shown = killed.map((watch) => ({ watch, head: watch.head, headEarlier: watch.headBefore(againMs), target }))
    await Promise.all(victim.nodes.map((node) => node.kill()))
    hits.push({ victim: victim.name, phase, journalBytes: victim.nodes.reduce((sum, node) => sum + journalBytesOf(node), 0) })
    return shown
  }
  const start = (): void => {
    for (const node of victim.nodes) node.spawn()
  }
  const shown = await hit()
  if (random() < pauseShare) await delay(random() * longestPauseMs)
  start()
  if (random() >= secondHitShare) return { hits, victim, shown }
  await delay(random() * longestStartMs)
  const shownLater = await hit()
  start()
  return { hits, victim, shown: shownLater }
}

/**
 * Returns the number of blocks that a node executed again since its restart: from its journal, or because their labels were lost.
 * @throws Error when they are more than the blocks of the last moments before the kill
 */
async function executedAgain(setup: Setup, { watch, head, headEarlier, target }: Shown, limits: Limits): Promise<number> {
  const { node } = watch
  const fresh = safeAfter(setup.chain, setup.l1.l1.head).number - head
  const again = (await executedBy(node)) - fresh
  const allowed = target - headEarlier + limits.slackBlocks
  if (again > allowed) throw new Error(`${node.name} executed ${again} blocks again after a kill at ${head}: more than ${allowed}`)
  return again
}

/**
 * Runs one round: L1 advances, a process is killed at a random time meanwhile and restarted, and all nodes recover.
 * @throws Error when they do not recover, when a node serves a wrong block, moves back, or executes an old block again
 */
export async function killRound(setup: Setup, watches: readonly HeadWatch[], random: () => number, limits = defaultLimits): Promise<Round> {
  const to = Math.min(lastL1(setup.chain), setup.l1.l1.head + minReveals + Math.floor(random() * moreReveals))
  const spanMs = (to - setup.l1.l1.head) * revealEveryMs + longestTailMs
  const revealed = reveal(setup, to)
  await delay(random() * spanMs)
  const { hits, victim, shown } = await strike(setup, watches, random, limits.againMs)
  const restartMs = performance.now()
  const sinceMs = (): number => Math.round(performance.now() - restartMs)
  await Promise.all(victim.nodes.map((node) => node.up()))
  const upMs = sinceMs()
  await revealed
  await eventually('together', limits.togetherMs, setup.together)
  const togetherMs = sinceMs()
  let again = 0
  for (const one of shown) again = Math.max(again, await executedAgain(setup, one, limits))
  for (const watch of watches) watch.check()
  return { hits, togetherMs, upMs, again }
}
