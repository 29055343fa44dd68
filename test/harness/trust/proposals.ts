import { bigintFromBytes, bytesFromBigint, concatBytes, padLeft } from '#lib/bytes'
import { fromHex } from '#lib/hex'
import { keccak256, keccak256Of } from '#lib/keccak'
import type { L1Witness } from '#trust/ports'
import { type Address, type Hash, hashFromBytes, parseAddress, zeroAddress } from '#types/ids'
import { type Contract, type L1State, l1StateOf } from './l1State.ts'

/** Contracts of the proposals of Base mainnet. */
export const factory = parseAddress('0x43edb88c4b80fdd2adff2412a7bebf9df42cb40e')
export const registry = parseAddress('0x909f6cf47ed12f010a796527f562bfc26c7f4e72')

/** A proposal; missing values are those of a valid one with one proof. */
export type Proposal = {
  readonly address: Address
  /** block after which it begins, and the block that it claims */
  readonly startBlock: number
  readonly block: number
  /** output roots by block; other roots are made up */
  readonly roots: Readonly<Record<number, Hash>>
  readonly type?: number
  readonly createdSec?: number
  readonly status?: 0 | 1 | 2
  readonly wasRespected?: boolean
  readonly isCountered?: boolean
  readonly proofs?: number
  readonly parent?: Address
  readonly code?: Uint8Array
}

export type ProposalsOnL1 = {
  readonly proposals: readonly Proposal[]
  readonly number?: number
  readonly timestamp: number
  readonly blacklisted?: readonly Address[]
  readonly retirementSec?: number
  readonly anchor?: Address
  /** length of the list; default: the number of proposals */
  readonly count?: number
}

const word = (value: bigint): Uint8Array => bytesFromBigint(value, 32)
const at = (bytes: Uint8Array): bigint => bigintFromBytes(bytes)
const madeUp = (proposal: Proposal, block: number): Hash => hashFromBytes(keccak256Of(fromHex(proposal.address), word(BigInt(block))))

/** Code of a clone as Solady's `LibClone.cloneDeterministic(implementation, data)` deploys it. */
export function cloneCode(data: Uint8Array, implementation = fromHex(`0x${'ab'.repeat(20)}`)): Uint8Array {
  const length = bytesFromBigint(BigInt(data.length + 2), 2)
  return concatBytes(
    fromHex('0x36602c57343d527f'),
    fromHex('0x9e4ac34f21c619cefc926c8bd93b54bf5a39c7ab2127a895af1cc0691d7e3dff'),
    fromHex('0x593da1005b363d3d373d3d3d3d61'),
    length,
    fromHex('0x806062363936013d73'),
    implementation,
    fromHex('0x5af43d3d93803e606057fd5bf3'),
    data,
    length,
  )
}

/** Immutable arguments of a game: creator, root claim, L1 parent hash, block, parent, 20 roots. */
export function gameArguments(proposal: Proposal): Uint8Array {
  const { startBlock, block, roots, parent = registry } = proposal
  const distance = (block - startBlock) / 20
  const all = Array.from({ length: 20 }, (_, i) => {
    const number = startBlock + (i + 1) * distance
    return fromHex(roots[number] ?? madeUp(proposal, number))
  })
  const creator = fromHex('0xc1366fabe614d42d367a1ece61821238a1d31cf5')
  const claim = all.at(-1) ?? new Uint8Array(32)
  return concatBytes(creator, claim, word(77n), word(BigInt(block)), fromHex(parent), ...all)
}

function gameContract(proposal: Proposal, createdSec: number): Contract {
  const { startBlock, status = 0, wasRespected = true, isCountered = false, proofs = 1 } = proposal
  const packed =
    BigInt(createdSec) |
    (status === 0 ? 0n : BigInt(createdSec + 86_400) << 64n) |
    (BigInt(status) << 128n) |
    (1n << 136n) |
    (wasRespected ? 1n << 144n : 0n)
  const slots = new Map([
    [0n, packed],
    [1n, 1n],
    [2n, BigInt(startBlock)],
    [5n, isCountered ? 3n : 0n],
    [7n, (BigInt(proofs) << 64n) | (2n ** 64n - 1n)],
  ])
  return { code: proposal.code ?? cloneCode(gameArguments(proposal)), slots }
}

/** Returns the contracts of Base mainnet with these proposals, listed in their order. */
export function proposalContracts(on: ProposalsOnL1): ReadonlyMap<Address, Contract> {
  const { proposals, timestamp, blacklisted = [], retirementSec = 1_000, anchor = zeroAddress } = on
  const list = new Map([[104n, BigInt(on.count ?? proposals.length)]])
  const contracts = new Map<Address, Contract>()
  const first = at(keccak256(word(104n)))
  for (const [i, proposal] of proposals.entries()) {
    const createdSec = proposal.createdSec ?? timestamp - 3_600
    const id = (BigInt(proposal.type ?? 621) << 224n) | (BigInt(createdSec) << 160n) | BigInt(proposal.address)
    list.set(first + BigInt(i), id)
    contracts.set(proposal.address, gameContract(proposal, createdSec))
  }
  const blacklist = blacklisted.map((game) => [at(keccak256Of(padLeft(fromHex(game), 32), word(5n))), 1n] as const)
  const slots = new Map([[2n, BigInt(anchor)], [6n, 621n | (BigInt(retirementSec) << 32n)], ...blacklist])
  contracts.set(factory, { code: Uint8Array.of(1), slots: list })
  contracts.set(registry, { code: Uint8Array.of(2), slots })
  return contracts
}

/** Builds the L1 block with `proposalContracts`. */
export function proposalsOnL1(on: ProposalsOnL1): L1State {
  return l1StateOf(proposalContracts(on), { number: on.number ?? 24_000_000, timestamp: on.timestamp })
}

/** Returns an endpoint that answers from a state, except for the replaced calls. */
export function witnessOf(name: string, state: L1State, lies: Partial<L1Witness> = {}): L1Witness {
  return {
    name,
    finalized: async () => state.block,
    at: async (number) => (number === state.block.number ? state.block : undefined),
    proofs: async (_block, requests) => requests.map((request) => state.proof(request)),
    codes: async (_block, addresses) => addresses.map((address) => state.code(address)),
    ...lies,
  }
}
