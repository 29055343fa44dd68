import type { GenesisAccount } from '#chainspec/genesis'
import type { StateView } from '#evm/ports'
import { bytesFromBigint } from '#lib/bytes'
import { fromHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { genesisState } from '#state/genesisState'
import type { Account } from '#types/account'
import type { Address } from '#types/ids'
import type { L1Contract } from '../l1Contracts.ts'

/** Account with a balance at genesis. */
export type Funded = { readonly address: Address; readonly balanceWei: bigint }

/** Returns the state of a genesis with balances and contracts. A contract replaces a balance of its address. */
export function genesisView(accounts: readonly Funded[], contracts: readonly L1Contract[]): StateView {
  const all = new Map<Address, GenesisAccount>()
  for (const { address, balanceWei: balance } of accounts) {
    all.set(address, { address, nonce: 0n, balance, code: new Uint8Array(0), storage: new Map() })
  }
  for (const { address, code, storage } of contracts) {
    const values = new Map([...storage].map(([slot, value]) => [slot, BigInt(value)]))
    all.set(address, { address, nonce: 1n, balance: 0n, code, storage: values })
  }
  return genesisState([...all.values()]).state.view
}

/** Returns the 32 bytes of a slot; zero when it is not set. */
export const slotOf = (view: StateView, address: Address, slot: bigint): Uint8Array =>
  view.slot(keccak256(fromHex(address)), keccak256(bytesFromBigint(slot, 32))) ?? new Uint8Array(32)

/** Returns an account; undefined when it does not exist */
export const accountOf = (view: StateView, address: Address): Account | undefined => view.account(keccak256(fromHex(address)))
