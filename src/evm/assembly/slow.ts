import * as OP from './opcode'
import { log } from './effects'
import * as environment from './environment'
import { goOn } from './internal'
import { givesOf, rowOf, takesOf } from './opcodes'
import { tstore } from './storage'

/** Returns the bytes of stack by which an opcode shrinks the stack. */
export function droppedBy(opcode: u32): usize {
  const row = rowOf(opcode)
  return <usize>(takesOf(row) - givesOf(row)) << 5
}

/**
 * Executes the opcodes that are slow enough for another dispatch to add no measurable cost. Gas is in the context. @returns `goOn`, how the frame
 * ends, or an exit
 */
export function operate(opcode: u32, frame: usize, sp: usize): i32 {
  switch (opcode) {
    case OP.BALANCE:
      return environment.balance(sp)
    case OP.CALLDATACOPY:
      return environment.calldatacopy(frame, sp)
    case OP.CODECOPY:
      return environment.codecopy(frame, sp)
    case OP.EXTCODESIZE:
      return environment.extcodesize(sp)
    case OP.EXTCODECOPY:
      return environment.extcodecopy(frame, sp)
    case OP.RETURNDATACOPY:
      return environment.returndatacopy(frame, sp)
    case OP.EXTCODEHASH:
      return environment.extcodehash(sp)
    case OP.BLOCKHASH:
      return environment.blockhash(sp)
    case OP.TSTORE:
      return tstore(frame, sp)
    case OP.MCOPY:
      return environment.mcopy(frame, sp)
  }
  return opcode >= OP.LOG0 ? log(frame, sp, opcode - OP.LOG0) : goOn
}
