// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// What L1 sets for the devnet's L2: the setters and the event of an OP-Stack SystemConfig. Everything it stores, the owner too, is put
/// in place with the code: there is no constructor.
/// @dev OP specs, protocol/system-config.md
contract DevnetSystemConfig {
    /// Kinds of updates, numbered as derivation reads them.
    enum UpdateType {
        BATCHER,
        GAS_CONFIG,
        GAS_LIMIT,
        UNSAFE_BLOCK_SIGNER,
        EIP_1559_PARAMS,
        OPERATOR_FEE_PARAMS,
        MIN_BASE_FEE,
        DA_FOOTPRINT_GAS_SCALAR
    }

    event ConfigUpdate(uint256 indexed version, UpdateType indexed updateType, bytes data);
    event OwnershipTransferred(address indexed previousOwner, address indexed newOwner);

    error NotOwner(address caller);
    error GasLimitOutOfRange(uint64 gasLimit, uint64 minimum, uint64 maximum);
    error ZeroParameter();
    error ScalarOutOfRange(uint256 scalar);

    uint256 public constant VERSION = 0;
    uint64 public constant minimumGasLimit = 21_000_000;
    uint64 public constant maximumGasLimit = 500_000_000;
    /// where nodes read the signer of unsafe blocks: keccak256("systemconfig.unsafeblocksigner")
    bytes32 public constant UNSAFE_BLOCK_SIGNER_SLOT = keccak256("systemconfig.unsafeblocksigner");

    address public owner;
    bytes32 public batcherHash;
    uint256 public overhead;
    uint256 public scalar;
    uint64 public gasLimit;
    uint32 public eip1559Denominator;
    uint32 public eip1559Elasticity;
    uint32 public operatorFeeScalar;
    uint64 public operatorFeeConstant;
    uint16 public daFootprintGasScalar;
    uint64 public minBaseFee;

    modifier onlyOwner() {
        if (msg.sender != owner) revert NotOwner(msg.sender);
        _;
    }

    function unsafeBlockSigner() external view returns (address signer) {
        bytes32 slot = UNSAFE_BLOCK_SIGNER_SLOT;
        assembly {
            signer := sload(slot)
        }
    }

    /// of the packed scalar
    function basefeeScalar() external view returns (uint32) {
        return uint32(scalar);
    }

    /// of the packed scalar
    function blobbasefeeScalar() external view returns (uint32) {
        return uint32(scalar >> 32);
    }

    function transferOwnership(address newOwner) external onlyOwner {
        emit OwnershipTransferred(owner, newOwner);
        owner = newOwner;
    }

    function setUnsafeBlockSigner(address signer) external onlyOwner {
        bytes32 slot = UNSAFE_BLOCK_SIGNER_SLOT;
        assembly {
            sstore(slot, signer)
        }
        _tell(UpdateType.UNSAFE_BLOCK_SIGNER, abi.encode(signer));
    }

    /// @param newBatcherHash the batcher's address, padded on the left
    function setBatcherHash(bytes32 newBatcherHash) external onlyOwner {
        batcherHash = newBatcherHash;
        _tell(UpdateType.BATCHER, abi.encode(newBatcherHash));
    }

    /// Before Ecotone. The scalar's first byte says how it is packed, and must be zero.
    function setGasConfig(uint256 newOverhead, uint256 newScalar) external onlyOwner {
        if (newScalar >> 248 != 0) revert ScalarOutOfRange(newScalar);
        _setGasConfig(newOverhead, newScalar);
    }

    /// @param newBasefeeScalar in millionths
    /// @param newBlobbasefeeScalar in millionths
    function setGasConfigEcotone(uint32 newBasefeeScalar, uint32 newBlobbasefeeScalar) external onlyOwner {
        _setGasConfig(overhead, (uint256(1) << 248) | (uint256(newBlobbasefeeScalar) << 32) | newBasefeeScalar);
    }

    function setGasLimit(uint64 newGasLimit) external onlyOwner {
        if (newGasLimit < minimumGasLimit || newGasLimit > maximumGasLimit) {
            revert GasLimitOutOfRange(newGasLimit, minimumGasLimit, maximumGasLimit);
        }
        gasLimit = newGasLimit;
        _tell(UpdateType.GAS_LIMIT, abi.encode(newGasLimit));
    }

    function setEIP1559Params(uint32 denominator, uint32 elasticity) external onlyOwner {
        if (denominator == 0 || elasticity == 0) revert ZeroParameter();
        eip1559Denominator = denominator;
        eip1559Elasticity = elasticity;
        _tell(UpdateType.EIP_1559_PARAMS, abi.encode((uint256(denominator) << 32) | elasticity));
    }

    function setOperatorFeeScalars(uint32 newScalar, uint64 newConstant) external onlyOwner {
        operatorFeeScalar = newScalar;
        operatorFeeConstant = newConstant;
        _tell(UpdateType.OPERATOR_FEE_PARAMS, abi.encode((uint256(newScalar) << 64) | newConstant));
    }

    function setMinBaseFee(uint64 newMinBaseFee) external onlyOwner {
        minBaseFee = newMinBaseFee;
        _tell(UpdateType.MIN_BASE_FEE, abi.encode(newMinBaseFee));
    }

    function setDAFootprintGasScalar(uint16 newScalar) external onlyOwner {
        daFootprintGasScalar = newScalar;
        _tell(UpdateType.DA_FOOTPRINT_GAS_SCALAR, abi.encode(newScalar));
    }

    function _setGasConfig(uint256 newOverhead, uint256 newScalar) private {
        overhead = newOverhead;
        scalar = newScalar;
        _tell(UpdateType.GAS_CONFIG, abi.encode(newOverhead, newScalar));
    }

    function _tell(UpdateType updateType, bytes memory data) private {
        emit ConfigUpdate(VERSION, updateType, data);
    }
}
