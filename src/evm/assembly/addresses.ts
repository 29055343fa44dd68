import { accountAddress } from './layout'

/** Writes an account's address as a word. */
export function pushAddress(sp: usize, account: usize): void {
  store<u64>(sp, load<u64>(account, accountAddress))
  store<u64>(sp, load<u64>(account, accountAddress + 8), 8)
  store<u64>(sp, <u64>load<u32>(account, accountAddress + 16), 16)
  store<u64>(sp, 0, 24)
}
