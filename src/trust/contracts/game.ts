import { bigintFromBytes, equalBytes } from '#lib/bytes'
import { fromHex } from '#lib/hex'
import { type Address, addressFromBytes, type Hash, hashFromBytes } from '#types/ids'
import { slotAt } from './gameList.ts'

/** Number of intermediate roots of a proposal, whatever its interval. */
export const rootsPerGame = 20

/** Slots of an AggregateVerifier game: state, starting root, starting block, countered root, proofs. */
export const gameSlots: readonly Hash[] = [0n, 1n, 2n, 5n, 7n].map(slotAt)

const gameStatuses = ['in progress', 'challenger wins', 'defender wins'] as const
export type GameStatus = (typeof gameStatuses)[number]

/** Storage of a game. */
export type GameState = {
  readonly createdSec: number
  /** undefined: a value that no version of the contract writes */
  readonly status: GameStatus | undefined
  readonly isInitialized: boolean
  /** whether its type was the respected one when it was created */
  readonly wasRespected: boolean
  readonly startRoot: Hash
  readonly startBlock: bigint
  /** whether a challenge countered one of its roots */
  readonly isCountered: boolean
  /** proofs that L1 has verified and nothing has refuted */
  readonly proofs: number
}

const at = (word: bigint, offset: number, bytes: number): number => Number((word >> BigInt(8 * offset)) & (2n ** BigInt(8 * bytes) - 1n))

/**
 * Decodes the values of `gameSlots`. Slot 0: createdAt u64, resolvedAt u64, status u8, initialized, wasRespected; 1, 2: starting root and block;
 * 5: index of the countered root + 1; 7: expectedResolution u64, proofCount u8. @see AggregateVerifier 0.2.0
 */
export function decodeGameState([state = 0n, startRoot = 0n, startBlock = 0n, countered = 0n, proofs = 0n]: readonly bigint[]): GameState {
  return {
    createdSec: at(state, 0, 8),
    status: gameStatuses[at(state, 16, 1)],
    isInitialized: at(state, 17, 1) !== 0,
    wasRespected: at(state, 18, 1) !== 0,
    startRoot: slotAt(startRoot),
    startBlock,
    isCountered: countered !== 0n,
    proofs: at(proofs, 8, 1),
  }
}

/** What a game claims: its immutable arguments. */
export type GameClaim = {
  /** output root of the block */
  readonly rootClaim: Hash
  readonly block: bigint
  /** game on which it builds, or the registry */
  readonly parent: Address
  /** output roots at equal distances up to the block; the last one is the root claim */
  readonly roots: readonly Hash[]
}

// a clone with immutable arguments: head ‖ length ‖ middle ‖ implementation ‖ tail ‖ arguments ‖ length
const head = fromHex('0x36602c57343d527f9e4ac34f21c619cefc926c8bd93b54bf5a39c7ab2127a895af1cc0691d7e3dff593da1005b363d3d373d3d3d3d61')
const middle = fromHex('0x806062363936013d73')
const tail = fromHex('0x5af43d3d93803e606057fd5bf3')
/** creator ‖ root claim ‖ L1 parent hash ‖ block ‖ parent ‖ roots */
const argumentBytes = 20 + 32 + 32 + 32 + 20 + 32 * rootsPerGame
const lengthBytes = Uint8Array.of((argumentBytes + 2) >> 8, (argumentBytes + 2) & 0xff)
const argumentsAt = head.length + 2 + middle.length + 20 + tail.length

/**
 * Decodes the code of a game: a clone whose arguments follow its instructions. The implementation is not compared: the factory's list has only games
 * that the factory created, with the implementation of their time.
 * @returns undefined for code of another form
 */
export function decodeGameCode(code: Uint8Array): GameClaim | undefined {
  const isAt = (offset: number, part: Uint8Array): boolean => equalBytes(code.subarray(offset, offset + part.length), part)
  const implementationAt = head.length + 2 + middle.length
  const isClone =
    code.length === argumentsAt + argumentBytes + 2 &&
    isAt(0, head) &&
    isAt(head.length, lengthBytes) &&
    isAt(head.length + 2, middle) &&
    isAt(implementationAt + 20, tail) &&
    isAt(code.length - 2, lengthBytes)
  if (!isClone) return undefined
  const word = (offset: number): Uint8Array => code.subarray(argumentsAt + offset, argumentsAt + offset + 32)
  const rootClaim = hashFromBytes(word(20))
  const roots = Array.from({ length: rootsPerGame }, (_, i) => hashFromBytes(word(136 + 32 * i)))
  if (roots.at(-1) !== rootClaim) return undefined
  return {
    rootClaim,
    block: bigintFromBytes(word(84)),
    parent: addressFromBytes(code.subarray(argumentsAt + 116, argumentsAt + 136)),
    roots,
  }
}
