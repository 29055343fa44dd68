import { ctxGas, ctxReserve } from './layout'

/** Returns all gas of the running frame. */
// @ts-ignore: decorator
@inline
export function gasLeft(): u64 {
  return load<u64>(ctxGas) + load<u64>(ctxReserve)
}

/**
 * Charges gas to the running frame, first from its slice. Returns false and charges nothing when the gas does not suffice.
 * A charge beyond the slice empties it, so that the next basic block exits to the host for its interrupt check.
 */
export function charge(cost: u64): bool {
  const gas = load<u64>(ctxGas)
  if (cost <= gas) {
    store<u64>(ctxGas, gas - cost)
    return true
  }
  const missing = cost - gas
  const reserve = load<u64>(ctxReserve)
  if (missing > reserve) return false
  store<u64>(ctxGas, 0)
  store<u64>(ctxReserve, reserve - missing)
  return true
}

/** Refills the slice from the reserve to at least `least` gas, if the reserve has enough. */
export function refill(least: u64, slice: u64): void {
  const gas = load<u64>(ctxGas)
  const reserve = load<u64>(ctxReserve)
  const wanted = max(slice, least > gas ? least - gas : 0)
  const taken = min(reserve, wanted)
  store<u64>(ctxGas, gas + taken)
  store<u64>(ctxReserve, reserve - taken)
}

/** Returns the price of `size` bytes, charged per word. */
// @ts-ignore: decorator
@inline
export function perWord(size: u32, price: u64): u64 {
  return (((<u64>size) + 31) >> 5) * price
}
