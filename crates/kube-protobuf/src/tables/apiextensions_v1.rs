//! The messages of `k8s.io.apiextensions_apiserver.pkg.apis.apiextensions.v1`.

use super::*;

pub(crate) static ConversionRequest: Message = message("k8s.io.apiextensions_apiserver.pkg.apis.apiextensions.v1.ConversionRequest", &[
    one(1, "uid", String, Required),
    one(2, "desiredAPIVersion", String, Required),
    many(3, "objects", Msg(&runtime::RawExtension), Required),
]);

pub(crate) static ConversionResponse: Message = message("k8s.io.apiextensions_apiserver.pkg.apis.apiextensions.v1.ConversionResponse", &[
    one(1, "uid", String, Required),
    many(2, "convertedObjects", Msg(&runtime::RawExtension), Required),
    one(3, "result", Msg(&meta_v1::Status), Required),
]);

pub(crate) static ConversionReview: Message = object("k8s.io.apiextensions_apiserver.pkg.apis.apiextensions.v1.ConversionReview", &[
    one(1, "request", Msg(&apiextensions_v1::ConversionRequest), Optional),
    one(2, "response", Msg(&apiextensions_v1::ConversionResponse), Optional),
]);

pub(crate) static CustomResourceColumnDefinition: Message = message("k8s.io.apiextensions_apiserver.pkg.apis.apiextensions.v1.CustomResourceColumnDefinition", &[
    one(1, "name", String, Required),
    one(2, "type", String, Required),
    one(3, "format", String, OmitEmpty),
    one(4, "description", String, OmitEmpty),
    one(5, "priority", Int32, OmitEmpty),
    one(6, "jsonPath", String, Required),
]);

pub(crate) static CustomResourceConversion: Message = message("k8s.io.apiextensions_apiserver.pkg.apis.apiextensions.v1.CustomResourceConversion", &[
    one(1, "strategy", String, Required),
    one(2, "webhook", Msg(&apiextensions_v1::WebhookConversion), Optional),
]);

pub(crate) static CustomResourceDefinition: Message = object("k8s.io.apiextensions_apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinition", &[
    one(1, "metadata", Msg(&meta_v1::ObjectMeta), OmitEmpty),
    one(2, "spec", Msg(&apiextensions_v1::CustomResourceDefinitionSpec), Required),
    one(3, "status", Msg(&apiextensions_v1::CustomResourceDefinitionStatus), OmitEmpty),
]);

pub(crate) static CustomResourceDefinitionCondition: Message = message("k8s.io.apiextensions_apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionCondition", &[
    one(1, "type", String, Required),
    one(2, "status", String, Required),
    one(3, "lastTransitionTime", Msg(&meta_v1::Time), OmitEmpty),
    one(4, "reason", String, OmitEmpty),
    one(5, "message", String, OmitEmpty),
    one(6, "observedGeneration", Int64, OmitEmpty),
]);

pub(crate) static CustomResourceDefinitionList: Message = object("k8s.io.apiextensions_apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionList", &[
    one(1, "metadata", Msg(&meta_v1::ListMeta), OmitEmpty),
    many(2, "items", Msg(&apiextensions_v1::CustomResourceDefinition), Items),
]);

pub(crate) static CustomResourceDefinitionNames: Message = message("k8s.io.apiextensions_apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionNames", &[
    one(1, "plural", String, Required),
    one(2, "singular", String, OmitEmpty),
    many(3, "shortNames", String, OmitEmpty),
    one(4, "kind", String, Required),
    one(5, "listKind", String, OmitEmpty),
    many(6, "categories", String, OmitEmpty),
]);

pub(crate) static CustomResourceDefinitionSpec: Message = message("k8s.io.apiextensions_apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionSpec", &[
    one(1, "group", String, Required),
    one(3, "names", Msg(&apiextensions_v1::CustomResourceDefinitionNames), Required),
    one(4, "scope", String, Required),
    many(7, "versions", Msg(&apiextensions_v1::CustomResourceDefinitionVersion), Required),
    one(9, "conversion", Msg(&apiextensions_v1::CustomResourceConversion), Optional),
    one(10, "preserveUnknownFields", Bool, OmitEmpty),
]);

pub(crate) static CustomResourceDefinitionStatus: Message = message("k8s.io.apiextensions_apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionStatus", &[
    many(1, "conditions", Msg(&apiextensions_v1::CustomResourceDefinitionCondition), Required),
    one(2, "acceptedNames", Msg(&apiextensions_v1::CustomResourceDefinitionNames), Required),
    many(3, "storedVersions", String, Required),
    one(4, "observedGeneration", Int64, OmitEmpty),
]);

pub(crate) static CustomResourceDefinitionVersion: Message = message("k8s.io.apiextensions_apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionVersion", &[
    one(1, "name", String, Required),
    one(2, "served", Bool, Required),
    one(3, "storage", Bool, Required),
    one(4, "schema", Msg(&apiextensions_v1::CustomResourceValidation), Optional),
    one(5, "subresources", Msg(&apiextensions_v1::CustomResourceSubresources), Optional),
    many(6, "additionalPrinterColumns", Msg(&apiextensions_v1::CustomResourceColumnDefinition), OmitEmpty),
    one(7, "deprecated", Bool, OmitEmpty),
    one(8, "deprecationWarning", String, Optional),
    many(9, "selectableFields", Msg(&apiextensions_v1::SelectableField), OmitEmpty),
]);

pub(crate) static CustomResourceSubresourceScale: Message = message("k8s.io.apiextensions_apiserver.pkg.apis.apiextensions.v1.CustomResourceSubresourceScale", &[
    one(1, "specReplicasPath", String, Required),
    one(2, "statusReplicasPath", String, Required),
    one(3, "labelSelectorPath", String, Optional),
]);

pub(crate) static CustomResourceSubresourceStatus: Message = message("k8s.io.apiextensions_apiserver.pkg.apis.apiextensions.v1.CustomResourceSubresourceStatus", &[
]);

pub(crate) static CustomResourceSubresources: Message = message("k8s.io.apiextensions_apiserver.pkg.apis.apiextensions.v1.CustomResourceSubresources", &[
    one(1, "status", Msg(&apiextensions_v1::CustomResourceSubresourceStatus), Optional),
    one(2, "scale", Msg(&apiextensions_v1::CustomResourceSubresourceScale), Optional),
]);

pub(crate) static CustomResourceValidation: Message = message("k8s.io.apiextensions_apiserver.pkg.apis.apiextensions.v1.CustomResourceValidation", &[
    one(1, "openAPIV3Schema", Msg(&apiextensions_v1::JSONSchemaProps), Optional),
]);

pub(crate) static ExternalDocumentation: Message = message("k8s.io.apiextensions_apiserver.pkg.apis.apiextensions.v1.ExternalDocumentation", &[
    one(1, "description", String, OmitEmpty),
    one(2, "url", String, OmitEmpty),
]);

pub(crate) static JSON: Message = special("k8s.io.apiextensions_apiserver.pkg.apis.apiextensions.v1.JSON", Form::Json, &[]);

pub(crate) static JSONSchemaProps: Message = message("k8s.io.apiextensions_apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps", &[
    one(1, "id", String, OmitEmpty),
    one(2, "$schema", String, OmitEmpty),
    one(3, "$ref", String, Optional),
    one(4, "description", String, OmitEmpty),
    one(5, "type", String, OmitEmpty),
    one(6, "format", String, OmitEmpty),
    one(7, "title", String, OmitEmpty),
    one(8, "default", Msg(&apiextensions_v1::JSON), Optional),
    one(9, "maximum", Double, Optional),
    one(10, "exclusiveMaximum", Bool, OmitEmpty),
    one(11, "minimum", Double, Optional),
    one(12, "exclusiveMinimum", Bool, OmitEmpty),
    one(13, "maxLength", Int64, Optional),
    one(14, "minLength", Int64, Optional),
    one(15, "pattern", String, OmitEmpty),
    one(16, "maxItems", Int64, Optional),
    one(17, "minItems", Int64, Optional),
    one(18, "uniqueItems", Bool, OmitEmpty),
    one(19, "multipleOf", Double, Optional),
    many(20, "enum", Msg(&apiextensions_v1::JSON), OmitEmpty),
    one(21, "maxProperties", Int64, Optional),
    one(22, "minProperties", Int64, Optional),
    many(23, "required", String, OmitEmpty),
    one(24, "items", Msg(&apiextensions_v1::JSONSchemaPropsOrArray), Optional),
    many(25, "allOf", Msg(&apiextensions_v1::JSONSchemaProps), OmitEmpty),
    many(26, "oneOf", Msg(&apiextensions_v1::JSONSchemaProps), OmitEmpty),
    many(27, "anyOf", Msg(&apiextensions_v1::JSONSchemaProps), OmitEmpty),
    one(28, "not", Msg(&apiextensions_v1::JSONSchemaProps), Optional),
    map(29, "properties", Msg(&apiextensions_v1::JSONSchemaProps), OmitEmpty),
    one(30, "additionalProperties", Msg(&apiextensions_v1::JSONSchemaPropsOrBool), Optional),
    map(31, "patternProperties", Msg(&apiextensions_v1::JSONSchemaProps), OmitEmpty),
    map(32, "dependencies", Msg(&apiextensions_v1::JSONSchemaPropsOrStringArray), OmitEmpty),
    one(33, "additionalItems", Msg(&apiextensions_v1::JSONSchemaPropsOrBool), Optional),
    map(34, "definitions", Msg(&apiextensions_v1::JSONSchemaProps), OmitEmpty),
    one(35, "externalDocs", Msg(&apiextensions_v1::ExternalDocumentation), Optional),
    one(36, "example", Msg(&apiextensions_v1::JSON), Optional),
    one(37, "nullable", Bool, OmitEmpty),
    one(38, "x-kubernetes-preserve-unknown-fields", Bool, Optional),
    one(39, "x-kubernetes-embedded-resource", Bool, OmitEmpty),
    one(40, "x-kubernetes-int-or-string", Bool, OmitEmpty),
    many(41, "x-kubernetes-list-map-keys", String, OmitEmpty),
    one(42, "x-kubernetes-list-type", String, Optional),
    one(43, "x-kubernetes-map-type", String, Optional),
    many(44, "x-kubernetes-validations", Msg(&apiextensions_v1::ValidationRule), OmitEmpty),
]);

pub(crate) static JSONSchemaPropsOrArray: Message = special("k8s.io.apiextensions_apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrArray", Form::SchemaOrArray, &[
    one(1, "", Msg(&apiextensions_v1::JSONSchemaProps), Optional),
    many(2, "", Msg(&apiextensions_v1::JSONSchemaProps), Optional),
]);

pub(crate) static JSONSchemaPropsOrBool: Message = special("k8s.io.apiextensions_apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrBool", Form::SchemaOrBool, &[
    one(1, "", Bool, Optional),
    one(2, "", Msg(&apiextensions_v1::JSONSchemaProps), Optional),
]);

pub(crate) static JSONSchemaPropsOrStringArray: Message = special("k8s.io.apiextensions_apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrStringArray", Form::SchemaOrStrings, &[
    one(1, "", Msg(&apiextensions_v1::JSONSchemaProps), Optional),
    many(2, "", String, Optional),
]);

pub(crate) static SelectableField: Message = message("k8s.io.apiextensions_apiserver.pkg.apis.apiextensions.v1.SelectableField", &[
    one(1, "jsonPath", String, Required),
]);

pub(crate) static ServiceReference: Message = message("k8s.io.apiextensions_apiserver.pkg.apis.apiextensions.v1.ServiceReference", &[
    one(1, "namespace", String, Required),
    one(2, "name", String, Required),
    one(3, "path", String, Optional),
    one(4, "port", Int32, Optional),
]);

pub(crate) static ValidationRule: Message = message("k8s.io.apiextensions_apiserver.pkg.apis.apiextensions.v1.ValidationRule", &[
    one(1, "rule", String, Required),
    one(2, "message", String, OmitEmpty),
    one(3, "messageExpression", String, OmitEmpty),
    one(4, "reason", String, Optional),
    one(5, "fieldPath", String, OmitEmpty),
    one(6, "optionalOldSelf", Bool, Optional),
]);

pub(crate) static WebhookClientConfig: Message = message("k8s.io.apiextensions_apiserver.pkg.apis.apiextensions.v1.WebhookClientConfig", &[
    one(1, "service", Msg(&apiextensions_v1::ServiceReference), Optional),
    one(2, "caBundle", Bytes, OmitEmpty),
    one(3, "url", String, Optional),
]);

pub(crate) static WebhookConversion: Message = message("k8s.io.apiextensions_apiserver.pkg.apis.apiextensions.v1.WebhookConversion", &[
    one(2, "clientConfig", Msg(&apiextensions_v1::WebhookClientConfig), Optional),
    many(3, "conversionReviewVersions", String, Required),
]);
