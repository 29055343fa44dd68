import { ctxGas, ctxReserve } from './layout'

/** All gas of the running frame. */
// @ts-ignore: decorator
@inline
export function gasLeft(): u64 {
  return load<u64>(ctxGas) + load<u64>(ctxReserve)
}

/**
 * Takes gas from the running frame, first from its slice; false when there is not enough, and then nothing is taken.
 * What goes beyond the slice leaves it empty, so that the next block lets the caller's pace be kept.
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

/** Puts at least `least` into the slice when the reserve has it. */
export function refill(least: u64, slice: u64): void {
  const gas = load<u64>(ctxGas)
  const reserve = load<u64>(ctxReserve)
  const wanted = max(slice, least > gas ? least - gas : 0)
  const taken = min(reserve, wanted)
  store<u64>(ctxGas, gas + taken)
  store<u64>(ctxReserve, reserve - taken)
}

/** Price of `size` bytes by the word. */
// @ts-ignore: decorator
@inline
export function perWord(size: u32, price: u64): u64 {
  return (((<u64>size) + 31) >> 5) * price
}
