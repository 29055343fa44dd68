import { countGas } from './blocks'
import { constantCount, dropConstants, topConstant, topIsAtMost } from './constants'
import { gasExpByte } from './internal'
import { add, and, eq, exp, exponentBytes, gt, iszero, lt, mul, not, or, shl, shr, sub, xor } from './word'

/** Executes an opcode during translation when all its operands are constants. @returns whether it was executed */
export function foldConstants(opcode: u32): bool {
  const top = topConstant()
  if (opcode === 0x15 || opcode === 0x19) {
    if (opcode === 0x15) iszero(top)
    else not(top)
    return true
  }
  if (constantCount() < 2 || !foldTwo(opcode, top)) return false
  dropConstants(1)
  return true
}

function foldTwo(opcode: u32, top: usize): bool {
  switch (opcode) {
    case 0x01:
      add(top)
      return true
    case 0x02:
      mul(top)
      return true
    case 0x03:
      sub(top)
      return true
    case 0x0a:
      // other powers are slow, and code that is only loaded does not pay for them
      if (!topIsAtMost(2) || load<u64>(top) !== 2) return false
      countGas(<u32>gasExpByte * exponentBytes(top))
      exp(top)
      return true
    case 0x10:
      lt(top)
      return true
    case 0x11:
      gt(top)
      return true
    case 0x14:
      eq(top)
      return true
    case 0x16:
      and(top)
      return true
    case 0x17:
      or(top)
      return true
    case 0x18:
      xor(top)
      return true
    case 0x1b:
      shl(top)
      return true
    case 0x1c:
      shr(top)
      return true
  }
  return false
}
