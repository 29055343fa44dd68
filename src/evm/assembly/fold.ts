import * as OP from './opcode'
import { countGas } from './blocks'
import { constantCount, dropConstants, topConstant, topIsAtMost } from './constants'
import { gasExpByte } from './internal'
import { add, and, eq, exp, exponentBytes, gt, iszero, lt, mul, not, or, shl, shr, sub, xor } from './word/word'

/** Executes an opcode during translation when all its operands are constants. @returns whether it was executed */
export function foldConstants(opcode: u32): bool {
  const top = topConstant()
  if (opcode === OP.ISZERO || opcode === OP.NOT) {
    if (opcode === OP.ISZERO) iszero(top)
    else not(top)
    return true
  }
  if (constantCount() < 2 || !foldTwo(opcode, top)) return false
  dropConstants(1)
  return true
}

function foldTwo(opcode: u32, top: usize): bool {
  switch (opcode) {
    case OP.ADD:
      add(top)
      return true
    case OP.MUL:
      mul(top)
      return true
    case OP.SUB:
      sub(top)
      return true
    case OP.EXP:
      // other powers are slow, and code that is only loaded does not pay for them
      if (!topIsAtMost(2) || load<u64>(top) !== 2) return false
      countGas(<u32>gasExpByte * exponentBytes(top))
      exp(top)
      return true
    case OP.LT:
      lt(top)
      return true
    case OP.GT:
      gt(top)
      return true
    case OP.EQ:
      eq(top)
      return true
    case OP.AND:
      and(top)
      return true
    case OP.OR:
      or(top)
      return true
    case OP.XOR:
      xor(top)
      return true
    case OP.SHL:
      shl(top)
      return true
    case OP.SHR:
      shr(top)
      return true
  }
  return false
}
