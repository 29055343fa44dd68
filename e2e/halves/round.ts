import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { lastL1, safeAfter } from '#test/harness/process/chain'
import { eventually, type NodeProcess } from '../nodeProcess.ts'
import type { EvictionCandidate, Setup } from './setups.ts'
import type { HeadWatch } from './watch.ts'

/** What the node that was hit was at: `starting` before it served, `deriving` while L1 had more than it had shown, `settled` otherwise. */
export type Phase = 'starting' | 'deriving' | 'settled'
export type Hit = {
  readonly victim: string
  readonly phase: Phase
  /** what was acknowledged and not committed, in the journals of the killed */
  readonly journalBytes: number
}

/** What became of one round: one kill, or two when the first restart was hit as well. */
export type Round = {
  readonly hits: readonly Hit[]
  /** from the last restart until every node is ready and has all that L1 says */
  readonly togetherMs: number
  /** from the last restart until the slowest of the killed serves */
  readonly upMs: number
  /** blocks that were executed although a node had shown them before; the most of any node */
  readonly again: number
}

export type Limits = {
  readonly togetherMs: number
  /** work that a kill may cost: that of this many milliseconds before it, shown or not, and `slackBlocks` */
  readonly againMs: number
  readonly slackBlocks: number
}

export const defaultLimits: Limits = { togetherMs: 60_000, againMs: 10_000, slackBlocks: 12 }

const executedBlocks = 'basalt_execution_blocks_total'
/** How often a new L1 block is revealed, and how many in a round. */
const [revealEveryMs, minReveals, moreReveals] = [100, 3, 8]
const longestTailMs = 600
const secondHitShare = 0.25
const pauseShare = 0.5
const longestStartMs = 1_500
const longestPauseMs = 800

export const executedBy = (node: NodeProcess): Promise<number> => node.metric('metrics', executedBlocks)

function phaseOf(setup: Setup, watches: readonly HeadWatch[], { nodes }: EvictionCandidate): Phase {
  if (nodes.some(({ isUp }) => !isUp)) return 'starting'
  const target = safeAfter(setup.chain, setup.l1.l1.head).number
  return watches.some(({ head }) => head < target) ? 'deriving' : 'settled'
}

/** Of the files that an execution half appends to before it answers. */
function journalBytesOf({ folder }: NodeProcess): number {
  const names = existsSync(folder) ? readdirSync(folder, { recursive: true, encoding: 'utf8' }) : []
  return names.filter((name) => name.endsWith('.journal')).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0)
}

/** Reveals L1 blocks, one after the other, until `to`. */
async function reveal({ l1 }: Setup, to: number): Promise<void> {
  while (l1.l1.head < to) {
    l1.l1.reveal(l1.l1.head + 1)
    await delay(revealEveryMs)
  }
}

/** What a killed node had shown, and what it had shown `againMs` before; `target` is what it may have executed at most. */
type Shown = { readonly watch: HeadWatch; readonly head: number; readonly headEarlier: number; readonly target: number }
type Strike = { readonly hits: readonly Hit[]; readonly victim: EvictionCandidate; readonly shown: readonly Shown[] }

/** Kills, starts again, and perhaps kills again while it starts. */
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
 * Blocks that a node executed since its restart beyond those that it had not shown: out of its journal, or twice because their labels were lost.
 * @throws Error when they are more than those of the last moments before the kill
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
 * One round: L1 moves on, a victim is killed at a random instant of that and started again, and all find together.
 * @throws Error when they do not, when a node shows a block that is not the chain's, goes back, or executes again what it had long
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
