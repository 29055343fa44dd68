import type { ProposalContracts } from '#chainspec/networks'
import { type Address, type Hash, zeroAddress } from '#types/ids'
import type { AgreedL1 } from './agreedL1.ts'
import { decodeGameCode, decodeGameState, type GameClaim, gameSlots } from './contracts/game.ts'
import { decodeGameId, gameCountSlot, gameSlot, type ListedGame } from './contracts/gameList.ts'
import { blacklistSlotOf, decodeRegistry, type Registry, registrySlots } from './contracts/registry.ts'
import type { GameFacts } from './grade.ts'

/** A game with its claim and all that L1 has about it. */
export type Game = { readonly address: Address; readonly claim: GameClaim; readonly facts: GameFacts }

/** Slots of one request: a proof of a slot is some 4 KB. */
const slotsPerRequest = 16
/** Games of one request. */
const gamesPerRequest = 4
/** Most parents of the anchor game that are followed: some ten hours of proposals. */
const maxAncestors = 32

/** Games on L1, proved at one finalized block. */
export interface Games {
  /** Number of games of all types. */
  readonly count: number
  /**
   * Returns the index of the first game created at a time or later, `count` when there is none. Games are listed in the order of their creation.
   * @param sec time in seconds
   */
  firstSince(sec: number, signal: AbortSignal): Promise<number>
  /** Yields the games of the chain's type from an index on, at most to another one. Clones of another form are left out. */
  from(index: number, to: number, signal: AbortSignal): AsyncGenerator<Game>
}

export async function readGames(l1: AgreedL1, contracts: ProposalContracts, signal: AbortSignal): Promise<Games> {
  const { factory, anchorStateRegistry, gameType } = contracts
  const [list, registryAccount] = await l1.accounts(
    [
      { address: factory, slots: [gameCountSlot] },
      { address: anchorStateRegistry, slots: registrySlots },
    ],
    signal,
  )
  const count = Number(list?.values[0] ?? 0n)
  const registry = decodeRegistry(registryAccount?.values ?? [])
  let ancestors: Promise<ReadonlySet<Address>> | undefined

  async function listed(indexes: readonly number[]): Promise<readonly ListedGame[]> {
    const [account] = await l1.accounts([{ address: factory, slots: indexes.map(gameSlot) }], signal)
    return (account?.values ?? []).map(decodeGameId)
  }

  async function read(games: readonly ListedGame[]): Promise<readonly Game[]> {
    if (games.length === 0) return []
    const blacklist = { address: anchorStateRegistry, slots: games.map(({ address }) => blacklistSlotOf(address)) }
    const [blacklisted, ...accounts] = await l1.accounts(
      [blacklist, ...games.map(({ address }) => ({ address, slots: gameSlots }))],
      signal,
    )
    const states = accounts.map(({ values }) => decodeGameState(values))
    const claims = await readClaims(
      l1,
      games.map(({ address }, i) => ({ address, hash: accounts[i]?.codeHash })),
      signal,
    )
    const found: Game[] = []
    for (const [i, { address }] of games.entries()) {
      const [claim, state] = [claims[i], states[i]]
      if (claim === undefined || state === undefined) continue
      const isResolved = state.status === 'defender wins'
      const isAnchored = isResolved && (await anchored()).has(address)
      const isBlacklisted = blacklisted?.values[i] !== 0n
      found.push({ address, claim, facts: { ...state, isBlacklisted, isAnchored, retirementSec: registry.retirementSec } })
    }
    return found
  }

  const anchored = (): Promise<ReadonlySet<Address>> => {
    ancestors ??= ancestorsOf(l1, registry, signal)
    return ancestors
  }

  return {
    count,
    async firstSince(sec): Promise<number> {
      let [low, high] = [0, count]
      while (low < high) {
        const step = Math.ceil((high - low) / slotsPerRequest)
        const indexes = Array.from({ length: Math.ceil((high - low) / step) }, (_, i) => low + i * step)
        const games = await listed(indexes)
        const later = games.findIndex(({ createdSec }) => createdSec >= sec)
        if (later === 0) return low
        const before = indexes[(later < 0 ? indexes.length : later) - 1] ?? low
        high = Math.min(high, before + step)
        low = before + 1
      }
      return low
    },
    async *from(index, to): AsyncGenerator<Game> {
      const end = Math.min(to, count)
      for (let page = index; page < end; page += slotsPerRequest) {
        const indexes = Array.from({ length: Math.min(slotsPerRequest, end - page) }, (_, i) => page + i)
        const ofType = (await listed(indexes)).filter(({ type }) => type === gameType)
        for (let i = 0; i < ofType.length; i += gamesPerRequest) yield* await read(ofType.slice(i, i + gamesPerRequest))
      }
    },
  }
}

/** Returns the claims of games, in their order; undefined for code of another form. */
async function readClaims(
  l1: AgreedL1,
  games: readonly { readonly address: Address; readonly hash: Hash | undefined }[],
  signal: AbortSignal,
): Promise<readonly (GameClaim | undefined)[]> {
  const wanted = games.flatMap(({ address, hash }) => (hash === undefined ? [] : [{ address, hash }]))
  return (await l1.codes(wanted, signal)).map(decodeGameCode)
}

/** Returns the anchor game and its last parents. */
async function ancestorsOf(l1: AgreedL1, { anchorGame }: Registry, signal: AbortSignal): Promise<ReadonlySet<Address>> {
  const ancestors = new Set<Address>()
  let address = anchorGame
  while (address !== zeroAddress && ancestors.size < maxAncestors) {
    const [account] = await l1.accounts([{ address, slots: [] }], signal)
    const [claim] = await readClaims(l1, [{ address, hash: account?.codeHash }], signal)
    // the parent of the first game is the registry
    if (claim === undefined) break
    ancestors.add(address)
    address = claim.parent
  }
  return ancestors
}
