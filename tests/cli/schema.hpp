#pragma once

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

namespace lrvb::testing {

/// The part of JSON Schema that docs/fit.schema.json uses: type, enum, required, properties, items. The first thing
/// that is wrong, or nothing. Keys that the schema does not list are wrong too.
inline std::string schema_error(const nlohmann::json& schema, const nlohmann::json& value, const std::string& path) {
    const auto is = [&](const std::string& type) {
        if (type == "integer") return value.is_number_integer();
        if (type == "null") return value.is_null();
        return std::string(value.type_name()) == type;
    };
    if (schema.contains("type")) {
        const nlohmann::json& type = schema.at("type");
        const nlohmann::json types = type.is_array() ? type : nlohmann::json::array({type});
        if (!std::any_of(types.begin(), types.end(), [&](const nlohmann::json& one) { return is(one); })) {
            return path + " is of another type";
        }
    }
    if (schema.contains("enum")) {
        const nlohmann::json& allowed = schema.at("enum");
        if (std::find(allowed.begin(), allowed.end(), value) == allowed.end()) return path + " is none of its values";
    }
    if (schema.contains("required")) {
        for (const std::string key : schema.at("required")) {
            if (!value.contains(key)) return path + "." + key + " is missing";
        }
    }
    if (schema.contains("properties")) {
        for (const auto& [key, entry] : value.items()) {
            if (!schema.at("properties").contains(key)) return path + "." + key + " is not in the schema";
            const std::string error = schema_error(schema.at("properties").at(key), entry, path + "." + key);
            if (!error.empty()) return error;
        }
    }
    if (schema.contains("items") && value.is_array()) {
        for (const nlohmann::json& entry : value) {
            const std::string error = schema_error(schema.at("items"), entry, path + "[]");
            if (!error.empty()) return error;
        }
    }
    return "";
}

}  // namespace lrvb::testing
