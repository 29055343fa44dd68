import { type ProposalContracts, proposalContractsOf } from '#chainspec/networks'
import type { RollupConfig } from '#chainspec/rollupConfig'
import type { BlockId } from '#types/blockRef'
import { type Header, hashHeader } from '#types/header'
import type { Hash } from '#types/ids'
import { type Grade, meetsGrade, type TrustRecord } from '#types/trust'
import { type AgreedL1Deps, agreeOnL1 } from './agreedL1.ts'
import { checkpointAt } from './checkpoint.ts'
import { type Game, type Games, readGames } from './games.ts'
import { gradeOf } from './grade.ts'
import { linkedHeader, outputRootOf } from './links.ts'
import type { HeaderLinks } from './ports.ts'
import { type Refusal, refused } from './refusal.ts'

export type TrustDeps = AgreedL1Deps

export type TrustOptions = {
  readonly config: RollupConfig
  /** weakest accepted grade */
  readonly required: Grade
  /** hash for which the operator vouches */
  readonly givenHash?: Hash
  /** absent: those of the built-in chain */
  readonly contracts?: ProposalContracts
}

export type TrustVerdict = { readonly kind: 'trusted'; readonly record: TrustRecord } | Refusal

/** Decides whether the chain that L1 has contains an L2 block. */
export interface Trust {
  /**
   * Grades a header: genesis is derived; otherwise L1 is read at a finalized block, by proofs, on which two endpoints agree. With `required` "given",
   * `givenHash` alone is enough.
   * @param links source of the headers after this one; at most 299 are requested, and none when L1 has the block's own output root
   * @returns the grade, which is at least the required one; or why not, for the operator. Lies of an endpoint or of `links` are never an error
   * @throws Fault of severity 'retry' when L1 or `links` do not answer; the signal's reason
   */
  verifyHeader(header: Header, links: HeaderLinks, signal: AbortSignal): Promise<TrustVerdict>
}

/** Entries of the factory's list that are read after the block's time: more than six days of proposals. */
const maxListed = 512

const vouch = 'or vouch for the block yourself: --trust.require given --start.block-hash HASH'

export function createTrust(deps: TrustDeps, options: TrustOptions): Trust {
  const { config, required, givenHash, contracts = proposalContractsOf(config) } = options

  async function fromL1(header: Header, block: BlockId, links: HeaderLinks, signal: AbortSignal): Promise<TrustVerdict> {
    if (contracts === undefined)
      return refused(`no proposals of chain ${config.l2ChainId} on L1 are known`, `use a built-in chain, ${vouch}`)
    if (outputRootOf(config, header, block.hash) === undefined) {
      return refused(`block ${block.number} is older than Isthmus: its header has no output root`, `take a later block, ${vouch}`)
    }
    const l1 = await agreeOnL1(deps, signal)
    if (l1.kind === 'refused') return l1
    const games = await readGames(l1, contracts, signal)
    const found = await findGame({ games, header, signal, judge: (game) => judge(game, header, links, signal) })
    if (found.kind === 'refused') return found
    const { number, hash } = l1.block
    return { kind: 'trusted', record: { block, grade: found.grade, l1: { number, hash }, game: found.game.address } }
  }

  /** Judges a proposal that covers a block. */
  async function judge(game: Game, header: Header, links: HeaderLinks, signal: AbortSignal): Promise<Judged> {
    const checkpoint = checkpointAt({ ...game.claim, startBlock: game.facts.startBlock }, header.number)
    if (checkpoint === undefined) return undefined
    const of = `the proposal ${game.address}, up to block ${game.claim.block},`
    const verdict = gradeOf(game.facts)
    if (verdict.kind === 'refused') return refused(`${of} does not count: ${verdict.reason}`, `take another block, ${vouch}`)
    const { grade } = verdict
    if (!meetsGrade(grade, required)) {
      return refused(
        `block ${header.number} is ${grade}, ${required} is demanded`,
        'wait until its challenge period has passed, take an older block, or lower --trust.require',
      )
    }
    const between = checkpoint.block === header.number ? [] : await links(header.number + 1, checkpoint.block, signal)
    const linked = linkedHeader(header, between, checkpoint.block)
    if (linked.kind === 'refused') return linked
    const root = outputRootOf(config, linked.header)
    if (root === checkpoint.root) return { kind: 'accepted', grade, game }
    return refused(
      `${of} has the output root ${checkpoint.root} for block ${checkpoint.block}, the header gives ${root}`,
      'do not use this source: its block is on another chain than the one that L1 has',
    )
  }

  return {
    async verifyHeader(header, links, signal): Promise<TrustVerdict> {
      const block = { number: header.number, hash: hashHeader(header) }
      const { l2 } = config.genesis
      if (block.number === l2.number && block.hash === l2.hash) return { kind: 'trusted', record: { block, grade: 'derived' } }
      if (givenHash !== undefined && givenHash !== block.hash) {
        return refused(
          `block ${block.number} has the hash ${block.hash}, --start.block-hash is ${givenHash}`,
          'use a snapshot or source of the block that you vouch for, or correct --start.block-hash',
        )
      }
      if (givenHash !== undefined && required === 'given') return { kind: 'trusted', record: { block, grade: 'given' } }
      return fromL1(header, block, links, signal)
    },
  }
}

/** Judgement of a game; undefined: it does not cover the block. */
type Judged = { readonly kind: 'accepted'; readonly grade: Grade; readonly game: Game } | Refusal | undefined
type Found = Exclude<Judged, undefined>

type Search = {
  readonly games: Games
  readonly header: Header
  readonly judge: (game: Game) => Promise<Judged>
  readonly signal: AbortSignal
}

/** Returns the first game that vouches for a block, or why none does. A game of a block is created after the time of the block. */
async function findGame({ games, header, judge, signal }: Search): Promise<Found> {
  const first = await games.firstSince(header.timestamp, signal)
  let newest = 0n
  let refusal: Refusal | undefined
  for await (const game of games.from(first, first + maxListed, signal)) {
    const judged = await judge(game)
    if (judged?.kind === 'accepted') return judged
    refusal = judged ?? refusal
    if (game.claim.block > newest) newest = game.claim.block
  }
  if (refusal) return refusal
  const until = newest === 0n ? '' : `, the newest is of block ${newest}`
  return refused(
    `L1 has no proposal of block ${header.number} at its finalized block${until}`,
    `wait, because proposals follow the chain by 30 to 60 minutes, take an older block, ${vouch}`,
  )
}
