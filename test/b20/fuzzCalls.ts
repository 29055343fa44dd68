import { concatBytes } from '#lib/bytes'
import { fromHex } from '#lib/hex'
import { activationRegistryAddress, factoryAddress, policyRegistryAddress } from '#nativeContracts/addresses'
import { type Address, parseAddress, zeroAddress } from '#types/ids'
import { type Argument, call, encode, nameHash } from './abi.ts'
import { admin, alice, bob, carol, creationData } from './tokens.ts'

/** Picks a number below a bound. */
export type Dice = (below: number) => number
export type FuzzMessage = { readonly caller: Address; readonly to: Address; readonly data: Uint8Array; readonly gas: bigint }

export const relay: Address = parseAddress(`0x${'7e'.repeat(20)}`)
/** Makes a call of the kind in the first byte (CALL, STATICCALL, DELEGATECALL) to the address in the next word with the rest of the call data. */
export const relayCode: Uint8Array = fromHex(
  '0x6021360360216000375f3560f81c806001146029576002146037575f5f602136035f5f6001355af1005b5f5f602136035f6001355afa005b5f5f602136035f6001355af400',
)

const people = [admin, alice, bob, carol, relay]
const receivers = [...people, zeroAddress, factoryAddress, policyRegistryAddress]
const roles = ['MINT_ROLE', 'BURN_ROLE', 'BURN_BLOCKED_ROLE', 'PAUSE_ROLE', 'UNPAUSE_ROLE', 'METADATA_ROLE', 'OPERATOR_ROLE', 'SEIZE_ROLE']
const scopes = [
  ...['TRANSFER_SENDER_POLICY', 'TRANSFER_RECEIVER_POLICY', 'TRANSFER_EXECUTOR_POLICY', 'MINT_RECEIVER_POLICY'],
  ...['SEIZE_EXEMPT_POLICY', 'SEIZE_RECEIVER_POLICY'],
]
const memo = `0x${'77'.repeat(32)}` as const
const features = ['base.b20_asset', 'base.b20_stablecoin', 'base.policy_registry']
const texts = ['', 'a', 'Name', 'x'.repeat(31), 'y'.repeat(32), 'z'.repeat(100)]

/** Creates random messages to the tokens and registries of a sequence. */
export class MessageMaker {
  readonly #dice: Dice
  readonly #tokens: readonly Address[]
  readonly #policies: readonly bigint[]
  #salt = 100

  constructor(dice: Dice, tokens: readonly Address[], policies: readonly bigint[]) {
    this.#dice = dice
    this.#tokens = tokens
    this.#policies = policies
  }

  next(): FuzzMessage {
    const [to, data] = this.#call()
    const wrapped = this.#dice(8) === 0
    const gas = this.#dice(6) === 0 ? BigInt(this.#dice(40_000)) : 2_000_000n
    const caller = this.#pick([admin, admin, ...people])
    if (!wrapped) return { caller, to, data, gas }
    return { caller, to: relay, data: concatBytes(Uint8Array.of(this.#dice(3)), encode(to), data), gas }
  }

  #pick<T>(list: readonly T[]): T {
    return list[this.#dice(list.length)] as T
  }

  get #amount(): bigint {
    return this.#pick([0n, 1n, 5n, 400n, 1_000n, 10n ** 9n, 2n ** 128n - 1n, 2n ** 256n - 1n])
  }

  get #policy(): bigint {
    const id = this.#pick([0n, (1n << 56n) | 1n, ...this.#policies, ...this.#policies])
    return this.#dice(5) === 0 ? id | (1n << 63n) : id
  }

  get #text(): Argument {
    return { text: this.#pick(texts) }
  }

  #call(): [Address, Uint8Array] {
    const kind = this.#dice(12)
    if (kind < 9) return [this.#pick(this.#tokens), this.#tokenCall()]
    if (kind < 11) return [policyRegistryAddress, this.#policyCall()]
    if (this.#dice(2) === 0) return [factoryAddress, creationData(this.#salt++, this.#pick(people), [this.#tokenCall()])]
    const verb = this.#pick(['activate(bytes32)', 'isActivated(bytes32)', 'deactivate(bytes32)', 'activate(bytes32)'])
    return [activationRegistryAddress, call(verb, nameHash(this.#pick(features)))]
  }

  #tokenCall(): Uint8Array {
    const makers: readonly (() => Uint8Array)[] = [
      () => call('transfer(address,uint256)', this.#pick(receivers), this.#amount),
      () => call('transfer(address,uint256)', this.#pick(people), this.#pick([1n, 5n])),
      () => call('transferWithMemo(address,uint256,bytes32)', this.#pick(people), this.#amount, memo),
      () => call('transferFrom(address,address,uint256)', this.#pick(people), this.#pick(receivers), this.#amount),
      () => call('transferFromWithMemo(address,address,uint256,bytes32)', this.#pick(people), this.#pick(people), 3n, memo),
      () => call('approve(address,uint256)', this.#pick(receivers), this.#amount),
      () => call('mint(address,uint256)', this.#pick(receivers), this.#pick([1n, 7n, 2n ** 128n])),
      () => call('batchMint(address[],uint256[])', [this.#pick(people), this.#pick(receivers)], [this.#amount, 3n]),
      () => call('burn(uint256)', this.#amount),
      () => call('burnBlocked(address,uint256)', this.#pick(people), this.#amount),
      () => call('seizeWithMemo(address,address,uint256,bytes32)', this.#pick(people), this.#pick(receivers), this.#pick([1n, 9n]), memo),
      () => call(this.#pick(['pause(uint8[])', 'unpause(uint8[])', 'unpause(uint8[])']), [BigInt(this.#dice(5))]),
      () => call('updateSupplyCap(uint256)', this.#amount),
      () => call('updatePolicy(bytes32,uint64)', nameHash(this.#pick(scopes)), this.#policy),
      () => call(this.#pick(['grantRole(bytes32,address)', 'revokeRole(bytes32,address)']), this.#role, this.#pick(people)),
      () => call('renounceRole(bytes32,address)', this.#role, this.#pick(people)),
      () => call(this.#pick(['updateName(string)', 'updateSymbol(string)', 'updateContractURI(string)']), this.#text),
      () => call('updateExtraMetadata(string,string)', this.#text, this.#text),
      () => call('updateMultiplier(uint256)', this.#amount),
      () => call('updateUIMultiplier(uint256,uint256)', this.#amount, this.#pick([0n, 1_795_000_100n, 1_795_000_101n, 2n ** 64n])),
      () => call(this.#pick(['cancelUIMultiplierUpdate()', 'uiMultiplier()', 'totalSupply()', 'pausedFeatures()', 'eip712Domain()'])),
      () => call('announce(bytes[],string,string,string)', [this.#inner(), this.#inner()], this.#text, this.#text, this.#text),
      () =>
        call('permit(address,address,uint256,uint256,uint8,bytes32,bytes32)', this.#pick(people), alice, 1n, 2n ** 64n, 27n, memo, memo),
    ]
    return this.#pick(makers)()
  }

  /** A call for a batch; never a batch itself. */
  #inner(): Uint8Array {
    const made = this.#tokenCall()
    return made[0] === 0x59 && made[1] === 0x51 ? call('burn(uint256)', 1n) : made
  }

  get #role(): Argument {
    return this.#dice(4) === 0 ? 0n : nameHash(this.#pick(roles))
  }

  #policyCall(): Uint8Array {
    const makers: readonly (() => Uint8Array)[] = [
      () => call('createPolicy(address,uint8)', this.#pick(receivers), BigInt(this.#dice(4))),
      () => call('createPolicyWithAccounts(address,uint8,address[])', admin, BigInt(this.#dice(2)), [this.#pick(people)]),
      () => call('updateAllowlist(uint64,bool,address[])', this.#policy, this.#dice(2) === 0, [this.#pick(people)]),
      () => call('updateBlocklist(uint64,bool,address[])', this.#policy, this.#dice(2) === 0, [this.#pick(people)]),
      () => call('createCompositePolicy(address,uint8,uint64[])', admin, BigInt(2 + this.#dice(2)), [this.#policy, this.#policy]),
      () => call('updateComposite(uint64,uint64[])', this.#policy, [this.#policy, this.#policy, this.#policy]),
      () => call('isAuthorized(uint64,address)', this.#policy, this.#pick(people)),
      () => call('stageUpdateAdmin(uint64,address)', this.#policy, this.#pick(people)),
      () => call(this.#pick(['finalizeUpdateAdmin(uint64)', 'renounceAdmin(uint64)', 'compositePolicyChildIds(uint64)']), this.#policy),
    ]
    return this.#pick(makers)()
  }
}

/** All accounts that can hold tokens in a sequence. */
export const holders = (tokens: readonly Address[]): readonly Address[] => [...receivers, ...tokens]
